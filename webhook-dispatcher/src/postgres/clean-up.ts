import type { Queryable } from '@tollgate/platform/database/database'

const rowsPerStatement = 5_000

/**
 * Deletes deliveries that were made before that time with their attempts, whatever became of them, and deleted endpoints to
 * which nothing is kept any more. Returns how many deliveries. Those that somebody holds at that moment are left for the next
 * time.
 */
export async function deleteOldDeliveries(sql: Queryable, madeBefore: Date): Promise<number> {
  let deleted = 0
  for (let round = rowsPerStatement; round === rowsPerStatement; deleted += round) {
    // Endpoint by endpoint, by time: what was queued late of something old, or early of something new, hides nothing.
    const result = await sql`
      with old as (
        select made.sequence from webhook_endpoints endpoint cross join lateral (
          select sequence from webhook_deliveries
          where provider_id = endpoint.provider_id and endpoint_ref = endpoint.reference and created_at < ${madeBefore}
          order by created_at, sequence limit ${rowsPerStatement}
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
    where status = 'deleted' and updated_at < ${madeBefore}
      and not exists (select from webhook_deliveries where provider_id = endpoint.provider_id and endpoint_ref = endpoint.reference)`
  return deleted
}
