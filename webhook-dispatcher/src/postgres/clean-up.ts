import type { Queryable } from '@tollgate/platform/database/database'

const rowsPerStatement = 1_000

/**
 * Deletes deliveries that were made before that time with their attempts, whatever became of them, and deleted endpoints to
 * which nothing is kept any more. Returns how many deliveries.
 */
export async function deleteOldDeliveries(sql: Queryable, madeBefore: Date): Promise<number> {
  let deleted = 0
  for (let round = rowsPerStatement; round === rowsPerStatement; deleted += round) {
    const result = await sql`
      with oldest as (
        select sequence from (select sequence, created_at from webhook_deliveries order by sequence limit ${rowsPerStatement}) front
        where created_at < ${madeBefore}
      ),
      gone as (
        delete from webhook_deliveries where sequence in (select sequence from oldest) returning reference, provider_id
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
