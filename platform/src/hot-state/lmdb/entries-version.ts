import type { LmdbStore } from '../../lmdb/lmdb-store.ts'
import { hotKey, keySpaces } from './hot-keys.ts'

/*
 * A number that is incremented by every change of any entry, in the same transaction. While it is unchanged, no entry has changed,
 * so readers may use cached entries.
 */
const versionKey = hotKey(keySpaces.entriesVersion)

export function readEntriesVersion(store: LmdbStore): number {
  return store.getBinaryFast(versionKey)?.readUIntLE(0, 6) ?? 0
}

/** Increments the version. Call it inside a write transaction. */
export function raiseEntriesVersion(store: LmdbStore): void {
  const version = Buffer.allocUnsafeSlow(6)
  version.writeUIntLE(readEntriesVersion(store) + 1, 0, 6)
  store.putSync(versionKey, version)
}
