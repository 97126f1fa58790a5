import type { Queryable } from '@tollgate/platform/database/database'

const rowsPerStatement = 5_000

/**
 * Deletes deliveries created in real time before `createdBefore` with their attempts, in any state, and deleted endpoints without deliveries.
 * Returns the number of deleted deliveries. Rows that are locked by another transaction are left for the next run.
 */
export async function deleteOldDeliveries(sql: Queryable, createdBefore: Date): Promise<number> {
  let deleted = 0
  for (let round = rowsPerStatement; round === rowsPerStatement; deleted += round) {
    // Selected per endpoint by creation time: `sequence` does not follow the creation time, because an old event may be queued
    // late.
    const result = await sql`
      with old as (
        select made.sequence from webhook_endpoints endpoint cross join lateral (
          (select sequence from webhook_deliveries
          where provider_id = endpoint.provider_id and endpoint_ref = endpoint.reference and created_at < ${createdBefore}
          order by created_at, sequence limit ${rowsPerStatement})
          union all
          -- Those of customers on test clocks are dated ahead.
          (select sequence from webhook_deliveries
          where provider_id = endpoint.provider_id and endpoint_ref = endpoint.reference and recorded_at < ${createdBefore}
            and created_at >= ${createdBefore}
          order by recorded_at, sequence limit ${rowsPerStatement})
        ) made
        limit ${rowsPerStatement}
      ),
      free as (
        select sequence from webhook_deliveries where sequence = any(array(select sequence from old))
        order by sequence for update skip locked
      ),
      gone as (
        delete from webhook_deliveries where sequence = any(array(select sequence from free)) returning reference, provider_id
      ),
      attempts as (
        delete from webhook_attempts attempt using gone
        where attempt.provider_id = gone.provider_id and attempt.delivery_ref = gone.reference
      )
      select from gone`
    round = result.count
  }
  await sql`
    delete from webhook_endpoints endpoint
    where status = 'deleted' and updated_at < ${createdBefore}
      and not exists (select from webhook_deliveries where provider_id = endpoint.provider_id and endpoint_ref = endpoint.reference)`
  return deleted
}
