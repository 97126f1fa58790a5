import type { TransactionSql } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import type { DeliveryState, WebhookAttempt, WebhookDelivery } from './delivery.ts'
import type { WebhookEndpoint } from './endpoint.ts'

type DeliveryRow = {
  sequence: bigint
  provider_id: string
  reference: string
  endpoint_ref: string
  event_id: string
  event_type: string
  replay_ref: string | null
  state: DeliveryState
  attempts: number
  due_at: Date
  first_attempt_at: Date | null
  finished_at: Date | null
  created_at: Date
}

type AttemptRow = {
  delivery_ref: string
  number: number
  is_reversed: boolean
  started_at: Date
  duration_ms: number
  connect_ms: number | null
  answer_ms: number | null
  status: number | null
  error_class: string | null
  answer: string | null
  address: string | null
  is_late: boolean
}

export type DeliveryFilter = {
  readonly endpointRef: string | undefined
  readonly eventId: string | undefined
  readonly type: string | undefined
  readonly state: DeliveryState | undefined
  /** Created at that time or later. */
  readonly from: Date | undefined
  /** Created before that time. */
  readonly to: Date | undefined
  /** Only deliveries that are older than this one. */
  readonly before: string | undefined
  readonly rowsMax: number
}

/**
 * Returns deliveries, newest first. The newest ones are read from the index for each endpoint and then merged, because a provider
 * has few endpoints and many deliveries.
 */
export async function listDeliveries(
  sql: Queryable,
  providerId: string,
  { endpointRef, eventId, type, state, from, to, before, rowsMax }: DeliveryFilter,
): Promise<WebhookDelivery[]> {
  const rows = await sql<DeliveryRow[]>`
    select delivery.* from webhook_endpoints endpoint cross join lateral (
      select * from webhook_deliveries
      where provider_id = ${providerId} and endpoint_ref = endpoint.reference
        ${eventId === undefined ? sql`` : sql`and event_id = ${eventId}`}
        ${type === undefined ? sql`` : sql`and event_type = ${type}`}
        ${state === undefined ? sql`` : stateIs(sql, state)}
        ${from === undefined ? sql`` : sql`and created_at >= ${from}`}
        ${to === undefined ? sql`` : sql`and created_at < ${to}`}
        ${
          before === undefined
            ? sql``
            : sql`and (created_at, sequence) < (
                select created_at, sequence from webhook_deliveries
                where provider_id = ${providerId} and reference = ${before})`
        }
      order by created_at desc, sequence desc limit ${rowsMax}
    ) delivery
    where endpoint.provider_id = ${providerId}
      ${endpointRef === undefined ? sql`` : sql`and endpoint.reference = ${endpointRef}`}
    order by delivery.created_at desc, delivery.sequence desc limit ${rowsMax}`
  return rows.map(fromRow)
}

/** The conditions match those of partial indexes, so that the planner uses them. */
function stateIs(sql: Queryable, state: DeliveryState) {
  switch (state) {
    case 'pending':
      return sql`and state = 'pending' and (attempts = 0 or attempts > 0)`
    case 'held':
      return sql`and state = 'held'`
    case 'failed':
      return sql`and state = 'failed'`
    default:
      return sql`and state = ${state}`
  }
}

export async function findDelivery(
  sql: Queryable,
  providerId: string,
  reference: string,
): Promise<WebhookDelivery | undefined> {
  const [row] = await sql<DeliveryRow[]>`
    select * from webhook_deliveries
    where provider_id = ${providerId} and reference = ${reference}`
  return row === undefined ? undefined : fromRow(row)
}

/** Returns a delivery and keeps it from being deleted before the transaction ends. */
export async function lockDelivery(
  sql: TransactionSql,
  providerId: string,
  reference: string,
): Promise<WebhookDelivery | undefined> {
  const [row] = await sql<DeliveryRow[]>`
    select * from webhook_deliveries
    where provider_id = ${providerId} and reference = ${reference} for key share`
  return row === undefined ? undefined : fromRow(row)
}

/** Returns the attempts of each delivery in the order in which they were made, keyed by the delivery's reference. */
export async function listAttempts(
  sql: Queryable,
  providerId: string,
  deliveryRefs: readonly string[],
): Promise<ReadonlyMap<string, readonly WebhookAttempt[]>> {
  const rows = await sql<AttemptRow[]>`
    select * from webhook_attempts
    where provider_id = ${providerId} and delivery_ref = any(${[...deliveryRefs]}::text[])
    order by started_at, claim, is_reversed`
  const byDelivery = new Map<string, WebhookAttempt[]>()
  for (const row of rows) {
    const own = byDelivery.get(row.delivery_ref)
    if (own === undefined) byDelivery.set(row.delivery_ref, [attemptFromRow(row)])
    else own.push(attemptFromRow(row))
  }
  return byDelivery
}

/** Number of newest deliveries whose attempts are read. */
const attemptedMax = 100

/** Returns the newest attempts among the endpoint's newest deliveries, newest first. Attempts are indexed by delivery only. */
export async function listLastAttempts(
  sql: Queryable,
  providerId: string,
  endpointRef: string,
  rowsMax: number,
): Promise<WebhookAttempt[]> {
  const rows = await sql<AttemptRow[]>`
    with newest as (
      select reference from webhook_deliveries
      where provider_id = ${providerId} and endpoint_ref = ${endpointRef} and attempts > 0
      order by created_at desc, sequence desc limit ${attemptedMax}
    )
    select attempt.* from newest join webhook_attempts attempt
      on attempt.provider_id = ${providerId} and attempt.delivery_ref = newest.reference
    order by attempt.started_at desc, attempt.claim desc, attempt.is_reversed desc limit ${rowsMax}`
  return rows.map(attemptFromRow)
}

/** Rows of one statement, far below the statement timeout. */
const skippedPerStatement = 50_000

/**
 * Skips deliveries of a disabled endpoint created before that real time, including those that no dispatcher has put on hold yet.
 * `created_at` of deliveries for customers on test clocks may be ahead of real time.
 */
export async function skipHeldDeliveries(
  sql: Queryable,
  { providerId, reference }: Pick<WebhookEndpoint, 'providerId' | 'reference'>,
  madeBefore: Date,
  now: Date,
): Promise<void> {
  for (let skipped = skippedPerStatement; skipped === skippedPerStatement;) {
    const isSkippable = sql`
      state in ('held', 'pending') and coalesce(recorded_at, created_at) < ${madeBefore}
      and (leased_until is null or leased_until <= ${now})`
    const result = await sql`
      with chosen as materialized (
        select sequence from webhook_deliveries
        where provider_id = ${providerId} and endpoint_ref = ${reference} and ${isSkippable}
        limit ${skippedPerStatement}
      ),
      -- In the order in which dispatchers lock deliveries, which avoids deadlocks.
      locked as (
        select sequence from webhook_deliveries
        where sequence = any(array(select sequence from chosen)) and ${isSkippable}
        order by sequence
        for no key update
      )
      update webhook_deliveries set state = 'skipped', finished_at = ${now}
      where sequence = any(array(select sequence from locked))`
    skipped = result.count
  }
}

function fromRow(row: DeliveryRow): WebhookDelivery {
  return {
    sequence: row.sequence,
    providerId: row.provider_id,
    reference: row.reference,
    endpointRef: row.endpoint_ref,
    eventId: row.event_id,
    eventType: row.event_type,
    replayRef: row.replay_ref,
    state: row.state,
    attempts: row.attempts,
    dueAt: row.due_at,
    firstAttemptAt: row.first_attempt_at,
    finishedAt: row.finished_at,
    createdAt: row.created_at,
  }
}

function attemptFromRow(row: AttemptRow): WebhookAttempt {
  return {
    deliveryRef: row.delivery_ref,
    number: row.number,
    isReversed: row.is_reversed,
    startedAt: row.started_at,
    durationMs: row.duration_ms,
    connectMs: row.connect_ms,
    answerMs: row.answer_ms,
    status: row.status,
    errorClass: row.error_class,
    answer: row.answer,
    address: row.address,
    isLate: row.is_late,
  }
}
