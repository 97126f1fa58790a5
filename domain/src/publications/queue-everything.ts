import type { Database } from '@tollgate/platform/database/database'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { environments } from '@tollgate/schemas/environment'

/** Lives and dies with everything else in the hot state. */
const markerKey = 'publications/complete'

/**
 * Queues every target there is when the hot state has lost what was published: it is new, or somebody wiped it.
 * The marker is set after the queue has committed, so a crash in between queues twice, which does no harm.
 */
export async function queueEverythingIfLost(
  database: Database,
  hotState: HotState,
): Promise<boolean> {
  if ((await hotState.readDocument(markerKey)) !== undefined) return false
  await database.control`
    insert into publications (provider_id, kind, target)
    select provider_id, 'api-key', key_id from api_keys`
  for (const environment of environments) {
    await database.in(environment)`
      insert into publications (provider_id, kind, target)
      (select distinct provider_id, 'meters', '' from meters)
      union all (select provider_id, 'offer', reference from products where removed_at is null)
      union all (select provider_id, 'customer', reference from customers)`
  }
  await hotState.putDocument(markerKey, '{}')
  return true
}
