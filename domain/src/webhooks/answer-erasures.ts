import type { Sql, TransactionSql } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'

/** Within this time, attempts sent before an erasure are answered and their answers are stored. */
const answersLateMs = 86_400_000

/**
 * Schedules the erasure of stored answers on commit, in small steps. Receivers may have answered with data of the customer that
 * they had been sent. It is due in real time, also if `now` is the time of a test clock.
 */
export async function scheduleAnswerErasure(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  now: Date,
): Promise<void> {
  await sql`
    insert into answer_erasures (provider_id, customer_ref, due_at, again_at)
    select ${providerId}, ${customerRef}, due_at, due_at + ${answersLateMs} * interval '1 millisecond'
    from least(${now}::timestamptz, now()) as due_at`
}

type ErasureRow = { provider_id: string; customer_ref: string; reached_sequence: bigint }

/** Erases the answers of all due erasures, for `eventsMax` events in each transaction. */
export async function eraseAnswers(pool: Sql, now: Date, eventsMax: number): Promise<void> {
  while (await pool.begin((sql) => eraseNextAnswers(sql, now, eventsMax)));
}

/**
 * Erases the answers for the next events of one customer. The progress is stored in the same transaction, so the next run continues
 * there after a crash. Returns false if no erasure is due, or other processes have claimed all of them.
 */
async function eraseNextAnswers(
  sql: TransactionSql,
  now: Date,
  eventsMax: number,
): Promise<boolean> {
  const [erasure] = await sql<ErasureRow[]>`
    select provider_id, customer_ref, reached_sequence from answer_erasures
    where due_at <= ${now} order by due_at limit 1 for update skip locked`
  if (erasure === undefined) return false
  const { provider_id: providerId, customer_ref: customerRef } = erasure
  const events = await sql<{ event_id: string; sequence: bigint }[]>`
    select event_id, sequence from outbox
    where provider_id = ${providerId} and order_key = ${customerRef}
      and sequence > ${erasure.reached_sequence.toString()}
    order by sequence limit ${eventsMax}`
  await sql`
    update webhook_attempts attempt set answer = null
    from webhook_deliveries delivery
    where delivery.provider_id = ${providerId}
      and delivery.event_id = any(${events.map((event) => event.event_id)}::text[])
      and attempt.provider_id = delivery.provider_id and attempt.delivery_ref = delivery.reference
      and attempt.answer is not null`
  await storeErasureProgress(
    sql,
    erasure,
    events.length < eventsMax ? undefined : events.at(-1)!.sequence,
  )
  return true
}

/** Stores the progress, or ends the pass. `reachedSequence` is undefined if there are no further events. */
async function storeErasureProgress(
  sql: TransactionSql,
  { provider_id: providerId, customer_ref: customerRef }: ErasureRow,
  reachedSequence: bigint | undefined,
): Promise<void> {
  const isErasure = sql`provider_id = ${providerId} and customer_ref = ${customerRef}`
  if (reachedSequence !== undefined) {
    const reached = reachedSequence.toString()
    await sql`update answer_erasures set reached_sequence = ${reached} where ${isErasure}`
    return
  }
  await sql`delete from answer_erasures where ${isErasure} and again_at is null`
  await sql`
    update answer_erasures set due_at = again_at, again_at = null, reached_sequence = 0
    where ${isErasure}`
}
