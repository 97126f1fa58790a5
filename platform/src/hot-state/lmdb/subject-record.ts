import type { LmdbStore } from '../../lmdb/lmdb-store.ts'
import type { Window } from '../hot-state.ts'
import { decodeForms, encodeForms, type StoredForm, type StoredFormArray } from './bucket-forms.ts'

/** The published windows and bucket specs of a subject, without documents. It is small, because every batch reads it. */
export type SubjectRecord = Map<string, ScopeRecord>

export type ScopeRecord = {
  readonly version: number
  readonly windows: readonly Window[]
  /** True during a publication. The windows are then listed as far as their slots are folded. */
  readonly isUnfinished: boolean
  readonly forms: readonly StoredForm[]
}

/** Version of an entry whose first publication is not finished, or that is deleted while its bucket forms are still counted. */
export const noVersion = -1

type StoredScope = readonly [
  scope: string,
  version: number,
  windows: [string, number, number][],
  isUnfinished?: boolean,
  forms?: readonly StoredFormArray[],
]

/** Cache of decoded records by key. A cached record is used only if the stored bytes are unchanged. */
export class SubjectRecords {
  readonly #store: LmdbStore
  readonly #cachedMax: number
  readonly #cache = new Map<string, { readonly bytes: Buffer; readonly record: SubjectRecord }>()

  constructor(store: LmdbStore, cachedMax: number) {
    this.#store = store
    this.#cachedMax = cachedMax
  }

  read(key: Buffer): SubjectRecord {
    const bytes = this.#store.getBinaryFast(key)
    if (bytes === undefined) return new Map()
    const name = key.toString('latin1')
    const cached = this.#cache.get(name)
    if (cached !== undefined && cached.bytes.compare(bytes, 0, bytes.length) === 0) {
      return cached.record
    }
    const own = ownCopy(bytes)
    const record = decode(own)
    this.#remember(name, own, record)
    return record
  }

  /** Writes a record. The caller must not change it afterwards. */
  write(key: Buffer, record: SubjectRecord): void {
    if (record.size === 0) {
      this.#store.removeSync(key)
      return
    }
    const bytes = encode(record)
    this.#store.putSync(key, bytes)
    this.#remember(key.toString('latin1'), ownCopy(bytes), record)
  }

  #remember(name: string, bytes: Buffer, record: SubjectRecord): void {
    if (this.#cache.size >= this.#cachedMax) this.#cache.clear()
    this.#cache.set(name, { bytes, record })
  }
}

/** Returns the first window that contains the second. */
export function fittingWindow(windows: readonly Window[], second: number): Window | undefined {
  for (const window of windows) {
    if (window.fromSecond <= second && second < window.toSecond) return window
  }
  return undefined
}

/**
 * Copies bytes for keeping: neither a view of the store's buffer nor of Node's buffer pool, where a few bytes would retain 8 KiB.
 */
function ownCopy(bytes: Buffer): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length)
  // The underlying buffer of the store is longer than its length says.
  own.set(Uint8Array.prototype.subarray.call(bytes, 0, bytes.length))
  return own
}

function encode(record: SubjectRecord): Buffer {
  const stored: StoredScope[] = []
  for (const [scope, { version, windows, isUnfinished, forms }] of record) {
    const bounds: StoredScope[2] = windows.map((w) => [w.id, w.fromSecond, w.toSecond])
    if (forms.length > 0) {
      stored.push([scope, version, bounds, isUnfinished, encodeForms(forms)])
    } else {
      stored.push(isUnfinished ? [scope, version, bounds, true] : [scope, version, bounds])
    }
  }
  return Buffer.from(JSON.stringify(stored))
}

function decode(bytes: Buffer): SubjectRecord {
  const record: SubjectRecord = new Map()
  for (const stored of JSON.parse(bytes.toString('utf8')) as StoredScope[]) {
    const [scope, version, windows, isUnfinished = false, forms = []] = stored
    record.set(scope, {
      version,
      windows: windows.map(([id, fromSecond, toSecond]) => ({ id, fromSecond, toSecond })),
      isUnfinished,
      forms: decodeForms(forms),
    })
  }
  return record
}
