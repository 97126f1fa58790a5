import type { Sql, TransactionSql } from 'postgres'
import {
  deletePublications,
  listPublications,
  lockPublicationTargets,
  type PublicationKind,
  type TargetName,
} from '../publications/repository.ts'

/**
 * `pending`: publish only targets with queued publications. `always`: also publish copies that hot state has lost or that have
 * become outdated with time.
 */
export type PublishWhen = 'pending' | 'always'

/**
 * Updates the copies of some targets of one kind in hot state.
 *
 * Order: lock the targets, list their queued publications, read the state and write it to hot state, delete the listed publications,
 * commit. Every listed publication had committed before the state was read, so the copies include it. A change that commits later
 * leaves a publication of its own. The locks make publishers of one target take turns, so an older copy never overwrites a newer
 * one. A crash before the commit leaves the publications in the queue, and publishing again writes the same state again. `write`
 * must end only after all its writes have ended, also if one fails, because a write after the commit would no longer be in order.
 *
 * With 'pending', targets without queued publications are not written, because another process has already published the caller's
 * change.
 */
export async function publishTargets(
  pool: Sql,
  kind: PublicationKind,
  targets: readonly TargetName[],
  when: PublishWhen,
  write: (sql: TransactionSql, due: readonly TargetName[]) => Promise<void>,
): Promise<void> {
  await pool.begin(async (sql) => {
    await lockPublicationTargets(sql, kind, targets)
    const waiting = await listPublications(sql, kind, targets)
    const due = when === 'always' ? targets : targetsAmong(targets, waiting)
    if (due.length > 0) await write(sql, due)
    if (waiting.length > 0) {
      await deletePublications(
        sql,
        waiting.map(({ id }) => id),
      )
    }
  })
}

function targetsAmong(targets: readonly TargetName[], others: readonly TargetName[]): TargetName[] {
  const names = new Set(others.map(nameOf))
  return targets.filter((each) => names.has(nameOf(each)))
}

function nameOf({ providerId, target }: TargetName): string {
  return `${providerId.length}:${providerId}${target}`
}
