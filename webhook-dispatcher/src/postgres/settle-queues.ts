import type { Queryable } from '@tollgate/platform/database/database'

const rowsPerStatement = 10_000

/**
 * Brings what waits in line with what its endpoint is: held while it is disabled, pending once it is enabled again, skipped
 * when it was deleted. Whoever changes an endpoint need not, and an event that was told at the same moment is not forgotten.
 */
export async function settleQueues(sql: Queryable, now: Date): Promise<number> {
  let settled = 0
  for (let changed = rowsPerStatement; changed === rowsPerStatement; settled += changed) {
    const result = await sql`
      with misplaced as (
        (
          select waiting.sequence, endpoint.status
          from webhook_endpoints endpoint cross join lateral (
            select sequence from webhook_deliveries
            where endpoint_ref = endpoint.reference and state = 'pending' and attempts = 0 limit ${rowsPerStatement}
          ) waiting
          where endpoint.status <> 'enabled' limit ${rowsPerStatement}
        )
        union all
        (
          select waiting.sequence, endpoint.status
          from webhook_endpoints endpoint cross join lateral (
            select sequence from webhook_deliveries
            where endpoint_ref = endpoint.reference and state = 'pending' and attempts > 0 limit ${rowsPerStatement}
          ) waiting
          where endpoint.status <> 'enabled' limit ${rowsPerStatement}
        )
        union all
        (
          select waiting.sequence, endpoint.status
          from webhook_endpoints endpoint cross join lateral (
            select sequence from webhook_deliveries
            where endpoint_ref = endpoint.reference and state = 'held' limit ${rowsPerStatement}
          ) waiting
          where endpoint.status <> 'disabled' limit ${rowsPerStatement}
        )
        limit ${rowsPerStatement}
      )
      update webhook_deliveries delivery
      set state = case misplaced.status
            when 'enabled' then 'pending' when 'disabled' then 'held' else 'skipped' end,
        finished_at = case misplaced.status when 'deleted' then ${now}::timestamptz end
      from misplaced
      -- Whose outcome was recorded meanwhile waits no longer.
      where delivery.sequence = misplaced.sequence and delivery.state in ('pending', 'held')`
    changed = result.count
  }
  return settled
}
