import { commit } from '../../lmdb/commit.ts'
import type { LmdbStore } from '../../lmdb/lmdb-store.ts'
import { hotKey, keySpaces } from './hot-keys.ts'

/*
 * Counts how often the state was opened for writing. A power failure may lose the last writes if the disk acknowledges writes too
 * early, and it ends every process that has the state open. So data written since the last opening was not affected by one.
 */
const openingsKey = hotKey(keySpaces.openings)

export function readOpenings(store: LmdbStore): number {
  return store.getBinary(openingsKey)?.readUIntLE(0, 6) ?? 0
}

export async function raiseOpenings(store: LmdbStore): Promise<void> {
  const act = () => {
    const openings = Buffer.allocUnsafeSlow(6)
    openings.writeUIntLE(readOpenings(store) + 1, 0, 6)
    store.putSync(openingsKey, openings)
  }
  await commit(store, () => store.childTransaction(act))
}
