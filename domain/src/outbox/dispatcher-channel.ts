import type { Queryable } from '@tollgate/platform/database/database'

/**
 * Whoever sends webhooks listens here. What is told is the environment with something to send; or, with the word `endpoints`
 * behind it, with endpoints that were enabled, disabled or deleted.
 */
export const dispatcherChannel = 'tollgate_webhooks'

/** As this transaction commits: what waits for endpoints that it enables, disables or deletes is looked through at once. */
export async function tellOfChangedEndpoints(sql: Queryable): Promise<void> {
  await sql`select pg_notify(${dispatcherChannel}, current_schema || ' endpoints')`
}

/** As this transaction commits: it has queued deliveries of its own. */
export async function tellOfDeliveries(sql: Queryable): Promise<void> {
  await sql`select pg_notify(${dispatcherChannel}, current_schema)`
}
