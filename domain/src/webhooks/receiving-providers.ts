import type { Queryable } from '@tollgate/platform/database/database'
import type { EventType } from '@tollgate/schemas/event-types'

/**
 * Returns the providers with an endpoint that receives events of the type. Disabled endpoints count too, because deliveries are
 * held for them.
 */
export async function listReceivingProviders(
  sql: Queryable,
  type: EventType,
): Promise<ReadonlySet<string>> {
  const rows = await sql<{ provider_id: string }[]>`
    select distinct provider_id from webhook_endpoints
    where status in ('enabled', 'disabled')
      and (enabled_events = '{}' or ${type} = any(enabled_events))`
  return new Set(rows.map((row) => row.provider_id))
}
