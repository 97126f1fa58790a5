import type { Queryable } from '@tollgate/platform/database/database'

/** Counts the deliveries that wait for their first attempt. The age of the oldest is in seconds, and 0 if there are none. */
export async function countWaiting(
  sql: Queryable,
  now: Date,
): Promise<{ readonly deliveries: number; readonly oldestAgeSeconds: number }> {
  const [row] = await sql<{ deliveries: number; oldest: Date | null }[]>`
    select count(*)::int as deliveries, min(created_at) as oldest from webhook_deliveries
    where state = 'pending' and attempts = 0`
  const { deliveries, oldest } = row!
  const ageMs = oldest === null ? 0 : now.getTime() - oldest.getTime()
  return { deliveries, oldestAgeSeconds: Math.max(0, ageMs / 1_000) }
}
