import type { Queryable } from '@tollgate/platform/database/database'
import type { JsonObject } from '@tollgate/schemas/json-object'
import { jsonb } from '../postgres/jsonb.ts'

export type AttemptOperation = 'create' | 'confirm' | 'change' | 'cancel' | 'refund'

/** `lost`: the processor has no record of the call. */
export type AttemptOutcome = 'sent' | 'unknown' | 'done' | 'declined' | 'refused' | 'lost'

/**
 * `soft`: the same card may be charged again later. `hard`: only another card can work. `customer`: the bank requires
 * authentication by the cardholder.
 */
export type AttemptDecline = 'soft' | 'hard' | 'customer'

/** One call that changes something at the processor. The row is committed before the call is sent. */
export type PaymentAttempt = {
  readonly intentRef: string
  readonly number: number
  readonly operation: AttemptOperation
  /** Idempotency key. The call is repeated with this key and the same parameters until its outcome is known. */
  readonly key: string
  readonly request: JsonObject
  readonly outcome: AttemptOutcome
  /** Kind of decline; null if the bank declined nothing. */
  readonly decline: AttemptDecline | null
  readonly sends: number
  /** Error of the last send, null if there was none. */
  readonly message: string | null
  /** Real time, also for customers on test clocks. */
  readonly sentAt: Date
}

type AttemptRow = {
  intent_ref: string
  number: number
  operation: AttemptOperation
  idempotency_key: string
  request: JsonObject
  outcome: AttemptOutcome
  decline: AttemptDecline | null
  sends: number
  message: string | null
  sent_at: Date
}

/**
 * Inserts the next attempt of a payment. The caller has locked the intent. Breaks a unique constraint if another attempt of the
 * payment is not settled.
 */
export async function insertAttempt(
  sql: Queryable,
  providerId: string,
  intentRef: string,
  { operation, request }: Pick<PaymentAttempt, 'operation' | 'request'>,
  now: Date,
): Promise<PaymentAttempt> {
  const [row] = await sql<[AttemptRow]>`
    insert into payment_attempts
      (provider_id, intent_ref, number, operation, idempotency_key, request, outcome, sent_at)
    select ${providerId}::text, ${intentRef}::text, number, ${operation}::text,
      concat_ws(':', ${intentRef}::text, ${operation}::text, number), ${jsonb(sql, request)}::jsonb,
      'sent', ${now}::timestamptz
    from (
      select coalesce(max(number), 0) + 1 as number from payment_attempts
      where provider_id = ${providerId} and intent_ref = ${intentRef}
    ) as next
    returning *`
  return fromRow(row)
}

/** Returns the number of the payment's last attempt, 0 if it has none. */
export async function lastAttemptNumber(
  sql: Queryable,
  providerId: string,
  intentRef: string,
): Promise<number> {
  const [last] = await sql<[{ number: number }]>`
    select coalesce(max(number), 0) as number from payment_attempts
    where provider_id = ${providerId} and intent_ref = ${intentRef}`
  return last.number
}

/** Returns the attempt whose outcome at the processor is not known, undefined if there is none. */
export async function findOpenAttempt(
  sql: Queryable,
  providerId: string,
  intentRef: string,
): Promise<PaymentAttempt | undefined> {
  const [row] = await sql<AttemptRow[]>`
    select * from payment_attempts
    where provider_id = ${providerId} and intent_ref = ${intentRef}
      and outcome in ('sent', 'unknown')`
  return row === undefined ? undefined : fromRow(row)
}

/** Returns the last call that was to charge the card for an invoice, across all payments of that invoice. */
export async function findLastCharge(
  sql: Queryable,
  providerId: string,
  invoiceRef: string,
): Promise<PaymentAttempt | undefined> {
  const [row] = await sql<AttemptRow[]>`
    select attempts.* from payment_attempts as attempts
    join payment_intents as intents on intents.provider_id = attempts.provider_id
      and intents.reference = attempts.intent_ref
    where intents.provider_id = ${providerId} and intents.invoice_ref = ${invoiceRef}
      and attempts.operation in ('create', 'confirm') and attempts.outcome <> 'lost'
    order by intents.created_at desc, attempts.number desc limit 1`
  return row === undefined ? undefined : fromRow(row)
}

/**
 * Returns the last call that set the payment's amount, tax included, to `originalAmountMinor`. `isLast` says whether no later call
 * asked for another amount.
 */
export async function findAmountChange(
  sql: Queryable,
  providerId: string,
  intentRef: string,
  originalAmountMinor: bigint,
): Promise<{ readonly request: JsonObject; readonly isLast: boolean } | undefined> {
  const [row] = await sql<{ request: JsonObject; is_last: boolean }[]>`
    select request, number = max(number) over () as is_last from payment_attempts
    where provider_id = ${providerId} and intent_ref = ${intentRef}
      and request ? 'tax' and outcome <> 'refused'
    order by (request ->> 'originalAmountMinor' = ${originalAmountMinor.toString()}) desc, number desc
    limit 1`
  if (row?.request['originalAmountMinor'] !== originalAmountMinor.toString()) return undefined
  return { request: row.request, isLast: row.is_last }
}

/** Stores the outcome of an attempt. An attempt that is already settled stays unchanged. */
export async function settleAttempt(
  sql: Queryable,
  providerId: string,
  { intentRef, number }: PaymentAttempt,
  outcome: Exclude<AttemptOutcome, 'sent' | 'unknown'>,
  message: string | null,
  now: Date,
  decline: AttemptDecline | null = null,
): Promise<void> {
  await sql`
    update payment_attempts set outcome = ${outcome}, decline = ${decline}, message = ${message},
      settled_at = ${now}
    where provider_id = ${providerId} and intent_ref = ${intentRef} and number = ${number}
      and outcome in ('sent', 'unknown')`
}

/**
 * Settles an attempt from the state of the payment itself. The payment's existence proves that the create call was made, and a
 * final payment accepts no further calls. Refund attempts stay open, because a final payment can still be refunded.
 */
export async function settleAttemptByState(
  sql: Queryable,
  providerId: string,
  intentRef: string,
  isFinal: boolean,
  decline: AttemptDecline | null,
  now: Date,
): Promise<void> {
  await sql`
    update payment_attempts set settled_at = ${now}, decline = ${decline},
      outcome = ${decline === null ? 'done' : 'declined'}
    where provider_id = ${providerId} and intent_ref = ${intentRef}
      and outcome in ('sent', 'unknown') and operation <> 'refund'
      and (operation = 'create' or ${isFinal})`
}

export async function recordUnknownOutcome(
  sql: Queryable,
  providerId: string,
  { intentRef, number }: PaymentAttempt,
  message: string,
): Promise<void> {
  await sql`
    update payment_attempts set outcome = 'unknown', message = ${message}, sends = sends + 1
    where provider_id = ${providerId} and intent_ref = ${intentRef} and number = ${number}
      and outcome in ('sent', 'unknown')`
}

function fromRow(row: AttemptRow): PaymentAttempt {
  return {
    intentRef: row.intent_ref,
    number: row.number,
    operation: row.operation,
    key: row.idempotency_key,
    request: row.request,
    outcome: row.outcome,
    decline: row.decline,
    sends: row.sends,
    message: row.message,
    sentAt: row.sent_at,
  }
}

/** Returns the processor's id of the saved card that the call charges, undefined if it charges none. */
export function savedCardOf({ request }: Pick<PaymentAttempt, 'request'>): string | undefined {
  const parameters = request as {
    readonly paymentMethodId?: string
    readonly confirm?: { readonly paymentMethodId?: string }
  }
  return parameters.paymentMethodId ?? parameters.confirm?.paymentMethodId
}
