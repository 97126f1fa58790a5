import type { LmdbStore } from '../../lmdb/environment.ts'
import { hotKey, keySpaces } from './hot-keys.ts'

/*
 * A number that every change of any entry raises, in the same transaction. While it stands, all entries are what they
 * were, so a reader that has seen one need not read it again.
 */
const versionKey = hotKey(keySpaces.entriesVersion)

export function readEntriesVersion(store: LmdbStore): number {
  return store.getBinaryFast(versionKey)?.readUIntLE(0, 6) ?? 0
}

/** Call inside a write transaction. */
export function raiseEntriesVersion(store: LmdbStore): void {
  const version = Buffer.allocUnsafeSlow(6)
  version.writeUIntLE(readEntriesVersion(store) + 1, 0, 6)
  store.putSync(versionKey, version)
}
