import type { Sql, TransactionSql } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'

/**
 * Deletes events that were told of before that time, `rowsMax` at a time. One that a delivery is kept of stays, whatever its
 * state: it is sent, sent again, or sent anew from there. Whoever dies leaves nothing half done, and who begins anew passes
 * over what was left. Returns how many.
 */
export async function deleteOldEvents(
  pool: Sql,
  toldBefore: Date,
  rowsMax: number,
): Promise<number> {
  let deleted = 0
  for (let behind: bigint | undefined = 0n; behind !== undefined;) {
    const page: OldEvents = await findOldEvents(pool, toldBefore, behind, rowsMax)
    if (page.sequences.length > 0) {
      deleted += await pool.begin((sql) => deleteUndelivered(sql, page.sequences))
    }
    behind = page.reached
  }
  return deleted
}

type OldEvents = {
  readonly sequences: readonly string[]
  /** Undefined: nothing behind these is old. */
  readonly reached: bigint | undefined
}

/** Of the next `rowsMax`. Numbers follow times but for moments: behind so many that are young, all are. */
async function findOldEvents(
  pool: Sql,
  toldBefore: Date,
  behind: bigint,
  rowsMax: number,
): Promise<OldEvents> {
  const rows = await pool<{ sequence: bigint; is_old: boolean }[]>`
    select sequence, created_at < ${toldBefore} as is_old from outbox
    where sequence > ${behind.toString()} order by sequence limit ${rowsMax}`
  const old = rows.filter((row) => row.is_old)
  const isLast = old.length === 0 || rows.length < rowsMax
  return {
    sequences: old.map(({ sequence }) => sequence.toString()),
    reached: isLast ? undefined : rows.at(-1)!.sequence,
  }
}

/**
 * Looked at again once they are locked: a replay holds the event while it makes a delivery of it, so that by then there is
 * either that delivery or nobody who could make one. To lock what is kept would write to all of it in every walk.
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

/** Until this transaction ends the event is not deleted. False: it is gone. */
export async function holdOutboxEvent(
  sql: Queryable,
  providerId: string,
  eventId: string,
): Promise<boolean> {
  const held = await sql`
    select from outbox where provider_id = ${providerId} and event_id = ${eventId} for key share`
  return held.count > 0
}
