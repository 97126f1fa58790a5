import type { Sql, TransactionSql } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'

/**
 * Deletes events created in real time before `createdBefore`, `rowsMax` at a time. An event with a delivery stays, whatever the delivery's state,
 * because it is sent, retried or replayed from there. An interruption leaves nothing half done, and the next run checks the
 * remaining events again. Returns the number of deleted events.
 */
export async function deleteOldEvents(
  pool: Sql,
  createdBefore: Date,
  rowsMax: number,
): Promise<number> {
  let deleted = 0
  for (let afterSequence: bigint | undefined = 0n; afterSequence !== undefined;) {
    const page: OldEvents = await findOldEvents(pool, createdBefore, afterSequence, rowsMax)
    if (page.sequences.length > 0) {
      deleted += await pool.begin((sql) => deleteUndelivered(sql, page.sequences))
    }
    afterSequence = page.reached
  }
  return deleted
}

type OldEvents = {
  readonly sequences: readonly string[]
  /** Sequence number after which to continue; undefined if no later event is old. */
  readonly reached: bigint | undefined
}

/**
 * Returns the old events among the next `rowsMax`. Sequence numbers follow real times of creation except for moments, so after a page
 * without an old event all later ones are young.
 */
async function findOldEvents(
  pool: Sql,
  createdBefore: Date,
  afterSequence: bigint,
  rowsMax: number,
): Promise<OldEvents> {
  const rows = await pool<{ sequence: bigint; is_old: boolean }[]>`
    select sequence, least(created_at, recorded_at) < ${createdBefore} as is_old from outbox
    where sequence > ${afterSequence.toString()} order by sequence limit ${rowsMax}`
  const old = rows.filter((row) => row.is_old)
  const isLast = old.length === 0 || rows.length < rowsMax
  return {
    sequences: old.map(({ sequence }) => sequence.toString()),
    reached: isLast ? undefined : rows.at(-1)!.sequence,
  }
}

/**
 * Checks the events again after locking them. A replay locks the event while it creates a delivery, so after the lock there is
 * either that delivery or no replay that could create one. Events with deliveries are not locked, because locking writes to every
 * row in every run.
 */
async function deleteUndelivered(
  sql: TransactionSql,
  sequences: readonly string[],
): Promise<number> {
  const locked = await sql<{ sequence: bigint }[]>`
    select sequence from outbox event
    where sequence = any(${sequences}::bigint[]) and ${isUndelivered(sql)}
    order by sequence for update skip locked`
  const gone = await sql`
    delete from outbox event
    where sequence = any(${locked.map(({ sequence }) => sequence.toString())}::bigint[])
      and ${isUndelivered(sql)}`
  return gone.count
}

function isUndelivered(sql: TransactionSql) {
  return sql`
    not exists (
      select from webhook_deliveries delivery
      where delivery.provider_id = event.provider_id and delivery.event_id = event.event_id)`
}

/** Keeps the event from being deleted until the transaction ends. Returns false if it is already deleted. */
export async function lockOutboxEvent(
  sql: Queryable,
  providerId: string,
  eventId: string,
): Promise<boolean> {
  const held = await sql`
    select from outbox where provider_id = ${providerId} and event_id = ${eventId} for key share`
  return held.count > 0
}
