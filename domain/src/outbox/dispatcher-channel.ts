import type { Queryable } from '@tollgate/platform/database/database'

/**
 * Channel on which webhook dispatchers listen. The payload is the environment that has deliveries to send. Followed by the word
 * `endpoints`, it says that endpoints of the environment were enabled, disabled or deleted.
 */
export const dispatcherChannel = 'tollgate_webhooks'

/** Notifies the dispatchers on commit, so that they check the deliveries of changed endpoints at once. */
export async function notifyEndpointsChanged(sql: Queryable): Promise<void> {
  await sql`select pg_notify(${dispatcherChannel}, current_schema || ' endpoints')`
}

/** Notifies the dispatchers on commit that this transaction has queued deliveries. */
export async function notifyDeliveriesQueued(sql: Queryable): Promise<void> {
  await sql`select pg_notify(${dispatcherChannel}, current_schema)`
}
