import type { Queryable } from '@tollgate/platform/database/database'
import type { JsonObject } from '@tollgate/schemas/json-object'
import { jsonb } from '../postgres/jsonb.ts'

export type AttemptOperation = 'create' | 'confirm' | 'change' | 'cancel' | 'refund'

/** `lost`: the processor has proved not to know of it. */
export type AttemptOutcome = 'sent' | 'unknown' | 'done' | 'declined' | 'refused' | 'lost'

/** Whether the same card may be taken later (`soft`), only another one (`hard`), or the bank wants to ask its holder. */
export type AttemptDecline = 'soft' | 'hard' | 'customer'

/** One call that changes something at the processor, written before it is made. */
export type PaymentAttempt = {
  readonly intentRef: string
  readonly number: number
  readonly operation: AttemptOperation
  /** It is repeated with this key and these words until it is known what came of it. */
  readonly key: string
  readonly request: JsonObject
  readonly outcome: AttemptOutcome
  /** Of what the bank turned down. */
  readonly decline: AttemptDecline | null
  readonly sends: number
  /** What was wrong the last time. */
  readonly message: string | null
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

/** The caller has locked the intent. Breaks a unique constraint while another attempt is not settled. */
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

/** 0: there was none. */
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

/** What the processor was told and has not answered so that anybody knew of it. */
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

/** The last call that was to charge the card for an invoice, of whichever of its payments. */
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
 * The last call that was to make the payment's amount this one, with its tax, and whether another amount was asked for
 * after it.
 */
export async function findChangeTo(
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

/** Settles nothing that was settled before. */
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
 * The payment itself has told what came of a call: that it was made, or that it has come to an end and nothing more can be
 * done to it. What pays it back goes on.
 */
export async function settleAnsweredAttempt(
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

export async function noteUnknown(
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

/** The saved card that the call charges, where it does. */
export function savedMethodOf({ request }: Pick<PaymentAttempt, 'request'>): string | undefined {
  const words = request as {
    readonly paymentMethodId?: string
    readonly confirm?: { readonly paymentMethodId?: string }
  }
  return words.paymentMethodId ?? words.confirm?.paymentMethodId
}
