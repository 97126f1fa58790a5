import type { Sql, TransactionSql } from 'postgres'
import {
  deletePublications,
  lockPublicationTarget,
  pendingPublicationIds,
  type PublicationTarget,
} from './repository.ts'

/**
 * Brings the hot state's copy of one target up to date.
 *
 * Order: lock the target, note which publications are waiting, read the state and write it to the hot state, remove
 * the noted publications, commit. Everything that was noted had committed before the state was read, so the copy has
 * it. A change that commits later leaves a publication of its own. The lock makes publishers of one target take
 * turns, so an older copy never overwrites a newer one. A crash before the commit leaves the publications in place;
 * publishing again then writes the same state again.
 *
 * With 'pending' nothing is written when nothing is waiting: somebody else has published what the caller changed.
 */
export async function publishTarget(
  pool: Sql,
  target: PublicationTarget,
  when: 'pending' | 'always',
  write: (sql: TransactionSql) => Promise<void>,
): Promise<void> {
  await pool.begin(async (sql) => {
    await lockPublicationTarget(sql, target)
    const ids = await pendingPublicationIds(sql, target)
    if (ids.length === 0 && when === 'pending') return
    await write(sql)
    if (ids.length > 0) await deletePublications(sql, ids)
  })
}
