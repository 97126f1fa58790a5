import { GroupFencedError, isSamePosition, type GroupPosition } from '../event-log.ts'
import { commit } from '../../lmdb/commit.ts'
import type { LmdbStore } from '../../lmdb/lmdb-store.ts'

/** Stores the positions of consumer groups. Several processes write them, so they have a separate LMDB environment. */
export class GroupPositions {
  readonly #store: LmdbStore

  constructor(store: LmdbStore) {
    this.#store = store
  }

  read(group: string, topic: string, partition: number): GroupPosition {
    this.#store.resetReadTxn()
    return this.#get(positionKey(group, topic, partition))
  }

  /**
   * Compares and sets the position in one transaction. It is durable when this resolves. Rejects with a GroupFencedError if the
   * stored position differs from `expected`.
   */
  async commit(
    group: string,
    topic: string,
    partition: number,
    expected: GroupPosition,
    next: GroupPosition,
  ): Promise<void> {
    const key = positionKey(group, topic, partition)
    const act = () => {
      const stored = this.#get(key)
      if (!isSamePosition(stored, expected)) return false
      this.#store.putSync(key, Buffer.from(JSON.stringify([next.offset, next.note])))
      return true
    }
    if (await commit(this.#store, () => this.#store.transaction(act))) return
    throw new GroupFencedError(
      `Group ${group} lost ${topic} partition ${partition} to another member.`,
    )
  }

  #get(key: Buffer): GroupPosition {
    const stored = this.#store.getBinary(key)
    if (stored === undefined) return { offset: 0, note: '' }
    const [offset, note] = JSON.parse(Buffer.from(stored).toString()) as [number, string]
    return { offset, note }
  }
}

const positionSpace = '\x01'

function positionKey(group: string, topic: string, partition: number): Buffer {
  return Buffer.from(positionSpace + JSON.stringify([group, topic, partition]))
}
