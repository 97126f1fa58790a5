import type { Queryable } from '@tollgate/platform/database/database'

const rowsPerStatement = 10_000

/**
 * Brings what waits in line with what its endpoint is: held while it is disabled, sent at once when it is enabled again, skipped
 * when it was deleted. Whoever changes an endpoint need not, and an event that was told at the same moment is not forgotten.
 */
export async function settleQueues(sql: Queryable, now: Date): Promise<number> {
  let settled = 0
  for (let changed = rowsPerStatement; changed === rowsPerStatement; settled += changed) {
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
        -- As an array they are found one by one, and the table is not read for them.
        where delivery.sequence = any(array(select sequence from misplaced))
          -- Whose outcome was recorded meanwhile waits no longer.
          and delivery.state in ('pending', 'held')
        -- As all do that lock more than one, or two of them would wait for each other.
        order by delivery.sequence
        for no key update of delivery
      )
      update webhook_deliveries delivery
      set state = case locked.status
            when 'enabled' then 'pending' when 'disabled' then 'held' else 'skipped' end,
        -- Who enables an endpoint says that it works: nothing that failed before waits for its time.
        due_at = case locked.status
            when 'enabled' then least(delivery.due_at, ${now}::timestamptz) else delivery.due_at end,
        finished_at = case locked.status when 'deleted' then ${now}::timestamptz end
      from locked where delivery.sequence = locked.sequence`
    changed = result.count
  }
  return settled
}
