import type { Queryable } from '@tollgate/platform/database/database'

const rowsPerStatement = 10_000

/**
 * Applies the status of endpoints to their queued deliveries: held while the endpoint is disabled, due at once when it is enabled
 * again, skipped when it is deleted. Code that changes an endpoint need not update its deliveries, and events queued at the same
 * moment are included. Returns the number of changed deliveries.
 */
export async function applyEndpointStatus(sql: Queryable, now: Date): Promise<number> {
  let changedTotal = 0
  for (let changed = rowsPerStatement; changed === rowsPerStatement; changedTotal += changed) {
    const result = await sql`
      with misplaced as (
        (
          select waiting.sequence
          from webhook_endpoints endpoint cross join lateral (
            select sequence from webhook_deliveries
            where endpoint_ref = endpoint.reference and state = 'pending' and attempts = 0 limit ${rowsPerStatement}
          ) waiting
          where endpoint.status <> 'enabled' limit ${rowsPerStatement}
        )
        union all
        (
          select waiting.sequence
          from webhook_endpoints endpoint cross join lateral (
            select sequence from webhook_deliveries
            where endpoint_ref = endpoint.reference and state = 'pending' and attempts > 0 limit ${rowsPerStatement}
          ) waiting
          where endpoint.status <> 'enabled' limit ${rowsPerStatement}
        )
        union all
        (
          select waiting.sequence
          from webhook_endpoints endpoint cross join lateral (
            select sequence from webhook_deliveries
            where endpoint_ref = endpoint.reference and state = 'held' limit ${rowsPerStatement}
          ) waiting
          where endpoint.status <> 'disabled' limit ${rowsPerStatement}
        )
        limit ${rowsPerStatement}
      ),
      locked as (
        select delivery.sequence, endpoint.status
        from webhook_deliveries delivery
          join webhook_endpoints endpoint on endpoint.reference = delivery.endpoint_ref
        -- With an array PostgreSQL looks up each row by index and does not scan the table.
        where delivery.sequence = any(array(select sequence from misplaced))
          -- A delivery whose outcome was stored in between is no longer queued.
          and delivery.state in ('pending', 'held')
        -- Every transaction locks deliveries in this order, which avoids deadlocks.
        order by delivery.sequence
        for no key update of delivery
      )
      update webhook_deliveries delivery
      set state = case locked.status
            when 'enabled' then 'pending' when 'disabled' then 'held' else 'skipped' end,
        -- A provider enables an endpoint because it works again, so pending retries become due at once.
        due_at = case locked.status
            when 'enabled' then least(delivery.due_at, ${now}::timestamptz) else delivery.due_at end,
        finished_at = case locked.status when 'deleted' then ${now}::timestamptz end
      from locked where delivery.sequence = locked.sequence`
    changed = result.count
  }
  return changedTotal
}
