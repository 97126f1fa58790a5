import type { Sql } from 'postgres'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { Environment } from '@tollgate/schemas/environment'
import { metersDocumentKey, type PublishedMeters } from '@tollgate/schemas/hot-state/documents'
import { publishTargets, type PublishWhen } from './publish-targets.ts'
import type { TargetName } from '../publications/repository.ts'
import { documentsInFlightMax, forEachConcurrently } from '../postgres/for-each-concurrently.ts'
import { listMeters, type Meter } from '../meters/repository.ts'

/** Publishes which meter names of the providers can be recorded, and what meters read from events. */
export async function publishMeters(
  pool: Sql,
  hotState: HotState,
  environment: Environment,
  targets: readonly TargetName[],
  when: PublishWhen,
): Promise<void> {
  await publishTargets(pool, 'meters', targets, when, (sql, due) =>
    forEachConcurrently(due, documentsInFlightMax, async ({ providerId }) => {
      const document = publishedMeters(await listMeters(sql, providerId))
      const key = metersDocumentKey(environment, providerId)
      await hotState.putDocument(key, JSON.stringify(document))
    }),
  )
}

/** Returns the document of a provider's meters. */
export function publishedMeters(meters: readonly Meter[]): PublishedMeters {
  return {
    meters: Object.fromEntries(
      meters.map(({ name, reference, status, reads }) => [
        name,
        // An archived meter counts nothing, so it must not make the document larger.
        {
          reference,
          status,
          ...(status === 'active' && reads !== null && { reads: reads.reading }),
        },
      ]),
    ),
  }
}
