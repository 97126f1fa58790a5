import type { Sql, TransactionSql } from 'postgres'
import {
  deletePublications,
  listPublications,
  lockPublicationTargets,
  type PublicationKind,
  type TargetName,
} from '../publications/repository.ts'

/** Whether to publish only what waits, or also copies that the hot state has lost or that time has overtaken. */
export type PublishWhen = 'pending' | 'always'

/**
 * Brings the hot state's copies of some targets of one kind up to date.
 *
 * Order: lock the targets, note which publications are waiting, read the state and write it to the hot state, remove
 * the noted publications, commit. Everything that was noted had committed before the state was read, so the copies
 * have it. A change that commits later leaves a publication of its own. The locks make publishers of one target take
 * turns, so an older copy never overwrites a newer one. A crash before the commit leaves the publications in place;
 * publishing again then writes the same state again. `write` ends when none of its writes is under way any more, also
 * when one fails: what came later than the commit would no longer be in turn.
 *
 * With 'pending' nothing is written of targets that nothing waits for: somebody else has published what the caller
 * changed.
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
    const due = when === 'always' ? targets : amongThem(targets, waiting)
    if (due.length > 0) await write(sql, due)
    if (waiting.length > 0) {
      await deletePublications(
        sql,
        waiting.map(({ id }) => id),
      )
    }
  })
}

function amongThem(targets: readonly TargetName[], others: readonly TargetName[]): TargetName[] {
  const names = new Set(others.map(nameOf))
  return targets.filter((each) => names.has(nameOf(each)))
}

function nameOf({ providerId, target }: TargetName): string {
  return `${providerId.length}:${providerId}${target}`
}
