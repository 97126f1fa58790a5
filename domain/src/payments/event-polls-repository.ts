import type { Queryable } from '@tollgate/platform/database/database'

/** How far back the first poll of an installation reads. */
const firstReachMs = 86_400_000

/**
 * Returns the time up to which the processor's event list was read, and schedules the next poll after the interval. Returns
 * undefined if no poll is due or another process is polling.
 */
export async function claimPoll(
  sql: Queryable,
  now: Date,
  intervalMs: number,
): Promise<Date | undefined> {
  const beginning = new Date(now.getTime() - firstReachMs)
  await sql`
    insert into processor_event_polls (read_until, due_at) values (${beginning}, ${now})
    on conflict do nothing`
  const [row] = await sql<{ read_until: Date }[]>`
    update processor_event_polls set due_at = ${new Date(now.getTime() + intervalMs)}
    where due_at <= ${now} returning read_until`
  return row?.read_until
}

export async function noteReadUntil(sql: Queryable, readUntil: Date): Promise<void> {
  await sql`update processor_event_polls set read_until = greatest(read_until, ${readUntil})`
}
