import type { LmdbStore } from '../../lmdb/environment.ts'
import { hotKey, keySpaces } from './hot-keys.ts'

/*
 * How often the state has been opened for writing. A power cut takes the last writes back where the disk only says that it has
 * them, and ends all who have the state open: what was written since it was last opened has lost nothing to one.
 */
const openingsKey = hotKey(keySpaces.openings)

export function readOpenings(store: LmdbStore): number {
  return store.getBinary(openingsKey)?.readUIntLE(0, 6) ?? 0
}

export function raiseOpenings(store: LmdbStore): void {
  store.transactionSync(() => {
    const openings = Buffer.allocUnsafeSlow(6)
    openings.writeUIntLE(readOpenings(store) + 1, 0, 6)
    store.putSync(openingsKey, openings)
  })
}
