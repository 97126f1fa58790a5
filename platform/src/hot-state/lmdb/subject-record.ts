import type { LmdbStore } from '../../lmdb/environment.ts'
import type { Window } from '../hot-state.ts'

/** What is published about a subject, without the documents: small, because every batch reads it. */
export type SubjectRecord = Map<string, ScopeRecord>

export type ScopeRecord = {
  readonly version: number
  readonly windows: readonly Window[]
  /** While a publication is under way, the windows are listed as far as their slots are folded. */
  readonly isUnfinished: boolean
}

/** Of an entry whose first publication is not finished. */
export const noVersion = -1

type StoredScope = readonly [
  scope: string,
  version: number,
  windows: [string, number, number][],
  isUnfinished?: true,
]

/** Decoded records by key. A record read from the store is trusted only if its bytes are the cached ones. */
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

  /** The record is not changed afterwards. */
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

/** The first window that holds the second. */
export function fittingWindow(windows: readonly Window[], second: number): Window | undefined {
  for (const window of windows) {
    if (window.fromSecond <= second && second < window.toSecond) return window
  }
  return undefined
}

/** To be kept: not of the store's own buffer, nor of the pool of buffers, of which a few bytes would keep 8 KiB. */
function ownCopy(bytes: Buffer): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length)
  // The store's buffer is longer than it says.
  own.set(Uint8Array.prototype.subarray.call(bytes, 0, bytes.length))
  return own
}

function encode(record: SubjectRecord): Buffer {
  const stored: StoredScope[] = []
  for (const [scope, { version, windows, isUnfinished }] of record) {
    const bounds: StoredScope[2] = windows.map((w) => [w.id, w.fromSecond, w.toSecond])
    stored.push(isUnfinished ? [scope, version, bounds, true] : [scope, version, bounds])
  }
  return Buffer.from(JSON.stringify(stored))
}

function decode(bytes: Buffer): SubjectRecord {
  const record: SubjectRecord = new Map()
  for (const stored of JSON.parse(bytes.toString('utf8')) as StoredScope[]) {
    const [scope, version, windows, isUnfinished = false] = stored
    record.set(scope, {
      version,
      windows: windows.map(([id, fromSecond, toSecond]) => ({ id, fromSecond, toSecond })),
      isUnfinished,
    })
  }
  return record
}
