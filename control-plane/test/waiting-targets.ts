import type { Queryable } from '@tollgate/platform/database/database'
import {
  listPendingTargets,
  type PublicationTarget,
} from '@tollgate/domain/publications/repository'
import { publishedKinds } from '@tollgate/schemas/hot-state/publications'

/** Returns the pending targets of publications, by kind. */
export async function pendingTargets(pool: Queryable): Promise<PublicationTarget[]> {
  const targets = await Promise.all(
    publishedKinds.map(async (kind) =>
      (await listPendingTargets(pool, kind, '0', 1_000)).targets.map((target) => ({
        kind,
        ...target,
      })),
    ),
  )
  return targets.flat()
}
