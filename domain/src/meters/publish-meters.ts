import type { Sql } from 'postgres'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { Environment } from '@tollgate/schemas/environment'
import { metersDocumentKey, type PublishedMeters } from '@tollgate/schemas/hot-state/documents'
import { publishTarget } from '../publications/publish-target.ts'
import type { PublicationTarget } from '../publications/repository.ts'
import { listMeters } from './repository.ts'

/** Tells the data plane which meter names of the provider may be recorded. */
export async function publishMeters(
  pool: Sql,
  hotState: HotState,
  environment: Environment,
  target: PublicationTarget,
  when: 'pending' | 'always',
): Promise<void> {
  await publishTarget(pool, target, when, async (sql) => {
    const meters = await listMeters(sql, target.providerId)
    const document: PublishedMeters = {
      meters: Object.fromEntries(
        meters.map(({ name, reference, status }) => [name, { reference, status }]),
      ),
    }
    const key = metersDocumentKey(environment, target.providerId)
    await hotState.putDocument(key, JSON.stringify(document))
  })
}
