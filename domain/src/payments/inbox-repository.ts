import type { ProcessorEvent } from '@tollgate/platform/payments/payment-processor'
import type { ProcessorObjectKind } from '@tollgate/platform/payments/payment-objects'
import type { Queryable } from '@tollgate/platform/database/database'

/** An event of the processor as stored: its type, and the object that it is about. */
export type InboxEvent = {
  readonly eventId: string
  readonly type: string
  readonly objectKind: ProcessorObjectKind
  readonly objectId: string
  readonly tries: number
}

/**
 * Stores events of the processor. An event that is already stored is dropped. Events about a kind of object that is not followed
 * are stored as settled.
 */
export async function receiveEvents(
  sql: Queryable,
  events: readonly ProcessorEvent[],
  now: Date,
): Promise<void> {
  if (events.length === 0) return
  const rows = events.map(({ id, type, objectKind, objectId }) => ({
    event_id: id,
    type,
    object_kind: objectKind ?? null,
    object_id: objectId,
    received_at: now,
    due_at: now,
    settled_at: objectKind === undefined ? now : null,
  }))
  await sql`insert into processor_events ${sql(rows)} on conflict (event_id) do nothing`
}

/**
 * Claims due events, the longest due first. Their next due time is `againAt`: no other process claims them before, and another
 * process claims them then if this one dies.
 */
export async function claimEvents(
  sql: Queryable,
  now: Date,
  againAt: Date,
  rowsMax: number,
): Promise<InboxEvent[]> {
  const rows = await sql<
    {
      event_id: string
      type: string
      object_kind: ProcessorObjectKind
      object_id: string
      tries: number
    }[]
  >`
    update processor_events set due_at = ${againAt}, tries = tries + 1
    where event_id in (
      select event_id from processor_events where settled_at is null and due_at <= ${now}
      order by due_at limit ${rowsMax} for update skip locked)
    returning event_id, type, object_kind, object_id, tries`
  return rows.map((row) => ({
    eventId: row.event_id,
    type: row.type,
    objectKind: row.object_kind,
    objectId: row.object_id,
    tries: row.tries,
  }))
}

export async function settleEvents(
  sql: Queryable,
  eventIds: readonly string[],
  now: Date,
): Promise<void> {
  await sql`
    update processor_events set settled_at = ${now}, last_error = null
    where event_id = any(${[...eventIds]}::text[])`
}

export async function postponeEvents(
  sql: Queryable,
  eventIds: readonly string[],
  dueAt: Date,
  error: string,
): Promise<void> {
  await sql`
    update processor_events set due_at = ${dueAt}, last_error = ${error}
    where event_id = any(${[...eventIds]}::text[])`
}

/** Returns the number of events received before `receivedBefore` that are not settled. */
export async function countUnsettledEvents(sql: Queryable, receivedBefore: Date): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*)::int from processor_events
    where settled_at is null and received_at < ${receivedBefore}`
  return row.count
}

/** Deletes events settled before `settledBefore`, at most `rowsMax` of them. The processor repeats events for some days only. */
export async function sweepEvents(
  sql: Queryable,
  settledBefore: Date,
  rowsMax: number,
): Promise<void> {
  await sql`
    delete from processor_events where event_id in (
      select event_id from processor_events where settled_at < ${settledBefore}
      order by settled_at limit ${rowsMax})`
}

/** How far back the first poll of an installation reads. */
const firstPollReachMs = 86_400_000

/**
 * Returns the time up to which the processor's event list was read, and schedules the next poll after the interval. Returns
 * undefined if no poll is due or another process is polling.
 */
export async function claimEventPoll(
  sql: Queryable,
  now: Date,
  intervalMs: number,
): Promise<Date | undefined> {
  const beginning = new Date(now.getTime() - firstPollReachMs)
  await sql`
    insert into processor_event_polls (read_until, due_at) values (${beginning}, ${now})
    on conflict do nothing`
  const [row] = await sql<{ read_until: Date }[]>`
    update processor_event_polls set due_at = ${new Date(now.getTime() + intervalMs)}
    where due_at <= ${now} returning read_until`
  return row?.read_until
}

export async function saveReadUntil(sql: Queryable, readUntil: Date): Promise<void> {
  await sql`update processor_event_polls set read_until = greatest(read_until, ${readUntil})`
}
