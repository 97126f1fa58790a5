import { openEnvironment } from '@tollgate/platform/lmdb/environment'
import type { LmdbStore } from '@tollgate/platform/lmdb/lmdb-store'
import type { Order, KeyValueStore } from './key-value-store.ts'

/** Sorts after every key with the same prefix, because keys are ASCII. */
const end = '\x7f'

/** Pages stored in a folder. Committed changes survive any end of the process. */
export class LmdbKeyValueStore implements KeyValueStore {
  readonly #store: LmdbStore

  private constructor(store: LmdbStore) {
    this.#store = store
  }

  static async open(folder: string): Promise<LmdbKeyValueStore> {
    return new LmdbKeyValueStore(
      await openEnvironment({
        folder,
        content: 'state of the Stripe simulator',
        formatVersion: 1,
        access: 'write',
        createdWithinMs: 0,
      }),
    )
  }

  get(key: string): string | undefined {
    return this.#store.getBinary(Buffer.from(key))?.toString()
  }

  *range(prefix: string, order: Order, past?: string): Iterable<readonly [string, string]> {
    const first = Buffer.from(prefix)
    const last = Buffer.from(prefix + end)
    const isUp = order === 'ascending'
    const entries = this.#store.getRange({
      start: past === undefined ? (isUp ? first : last) : Buffer.from(past),
      end: isUp ? last : first,
      reverse: !isUp,
      exclusiveStart: past !== undefined,
    })
    for (const { key, value } of entries) yield [key.toString(), value.toString()]
  }

  commit(changes: ReadonlyMap<string, string | undefined>): void {
    this.#store.transactionSync(() => {
      for (const [key, value] of changes) {
        if (value === undefined) this.#store.removeSync(Buffer.from(key))
        else this.#store.putSync(Buffer.from(key), Buffer.from(value))
      }
    })
  }

  close(): Promise<void> {
    return this.#store.close()
  }
}
