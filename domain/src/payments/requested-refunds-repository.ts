import type { Fragment } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import { firstCallKey } from './refund-call-keys.ts'

/** A refund that a person requested: of an invoice, or to pay out a part of the customer's balance. */
export type RequestedRefund = {
  readonly reference: string
  /** The refunded invoice; null for a payout of the balance. */
  readonly invoiceRef: string | null
  /** The payout of the balance; null for the refund of an invoice. */
  readonly payoutRef: string | null
  /** The payment of the invoice; null if the invoice was paid without the payment processor. */
  readonly intentRef: string | null
  readonly goesTo: 'card' | 'balance'
  /** Minor units of `currency`, with the tax. */
  readonly amountMinor: bigint
  readonly currency: string
  /** `open`: the processor's answer is not known. `refused`: the processor did not make the refund. */
  readonly status: 'open' | 'done' | 'refused'
  readonly processorRefundId: string | null
  /** Idempotency key of the call. The call is repeated with it until the answer is known. */
  readonly callKey: string
  readonly sentAt: Date
  /** How often the outcome of the call was unknown. */
  readonly sends: number
  readonly message: string | null
  /** When the call is made again; null once the answer is known. */
  readonly dueAt: Date | null
  readonly createdAt: Date
}

type RequestedRow = {
  reference: string
  invoice_ref: string | null
  payout_ref: string | null
  intent_ref: string | null
  goes_to: RequestedRefund['goesTo']
  amount: bigint
  currency: string
  status: RequestedRefund['status']
  processor_refund_id: string | null
  call_key: string
  sent_at: Date
  sends: number
  message: string | null
  due_at: Date | null
  created_at: Date
}

export type NewRefund = Pick<
  RequestedRefund,
  'reference' | 'invoiceRef' | 'payoutRef' | 'intentRef' | 'goesTo' | 'amountMinor' | 'currency'
>

/** How long the process that stored a request has to make the call, before another one makes it. Milliseconds. */
const firstCallMs = 60_000

/** Stores a request. One to the balance is complete with its transaction, and one to the card is open until its call is answered. */
export async function insertRequestedRefund(
  sql: Queryable,
  providerId: string,
  refund: NewRefund,
  now: Date,
): Promise<void> {
  const { reference, invoiceRef, payoutRef, intentRef, goesTo, currency } = refund
  const isOpen = goesTo === 'card'
  const dueAt = isOpen ? new Date(now.getTime() + firstCallMs) : null
  await sql`
    insert into requested_refunds
      (provider_id, reference, invoice_ref, payout_ref, intent_ref, goes_to, amount, currency, status,
       call_key, sent_at, due_at, created_at, updated_at)
    values (${providerId}, ${reference}, ${invoiceRef}, ${payoutRef}, ${intentRef}, ${goesTo},
      ${refund.amountMinor.toString()}, ${currency}, ${isOpen ? 'open' : 'done'},
      ${firstCallKey(reference)}, ${now}, ${dueAt}, ${now}, ${now})`
}

export async function findRequestedRefund(
  sql: Queryable,
  providerId: string,
  reference: string,
): Promise<RequestedRefund | undefined> {
  const [row] = await sql<RequestedRow[]>`
    select * from requested_refunds
    where provider_id = ${providerId} and reference = ${reference}`
  return row === undefined ? undefined : fromRow(row)
}

/**
 * Stores that the processor has the refund. Does nothing if the payment has no such request, or if another refund answered it. The
 * caller has locked the payment.
 */
export async function completeRequestedRefund(
  sql: Queryable,
  providerId: string,
  { reference, intentRef }: { readonly reference: string; readonly intentRef: string },
  processorRefundId: string,
  now: Date,
): Promise<void> {
  await sql`
    update requested_refunds set status = 'done', processor_refund_id = ${processorRefundId},
      message = null, due_at = null, updated_at = ${now}
    where provider_id = ${providerId} and reference = ${reference} and intent_ref = ${intentRef}
      and goes_to = 'card' and status = 'open'`
}

/** A refund that pays out a part of the balance. */
export type PayoutRefund = RequestedRefund & {
  /** `failed` and `canceled`: the processor had the refund, and the amount is in the balance again, as after `refused`. */
  readonly outcome: 'pending' | 'done' | 'failed' | 'canceled' | 'refused'
}

/** Returns the refunds that pay out parts of the balance, in the order in which they were requested, by payout. */
export async function listRefundsOfPayouts(
  sql: Queryable,
  providerId: string,
  payoutRefs: readonly string[],
): Promise<Map<string, PayoutRefund[]>> {
  const rows = await sql<
    (RequestedRow & { payout_ref: string; outcome: PayoutRefund['outcome'] })[]
  >`
    select requested.*, case
        when requested.status = 'open' then 'pending'
        when requested.status = 'refused' then 'refused'
        when made.status in ('failed', 'canceled') then made.status
        else 'done' end as outcome
    from requested_refunds as requested
    left join payment_refunds as made on made.provider_id = requested.provider_id
      and made.processor_refund_id = requested.processor_refund_id
    where requested.provider_id = ${providerId} and payout_ref = any(${[...payoutRefs]})
    order by requested.created_at, requested.reference`
  const byPayout = new Map<string, PayoutRefund[]>()
  for (const row of rows) {
    const refund = { ...fromRow(row), outcome: row.outcome }
    byPayout.set(row.payout_ref, [...(byPayout.get(row.payout_ref) ?? []), refund])
  }
  return byPayout
}

/** Returns the refunds of one payout. */
export async function listRefundsOfPayout(
  sql: Queryable,
  providerId: string,
  payoutRef: string,
): Promise<PayoutRefund[]> {
  return (await listRefundsOfPayouts(sql, providerId, [payoutRef])).get(payoutRef) ?? []
}

/** Changes of an open request after a call. */
export type RequestedRefundChange = Partial<
  Pick<RequestedRefund, 'status' | 'callKey' | 'sentAt' | 'sends' | 'message' | 'dueAt'>
>

/** Changes a request whose answer is not known. Returns false and changes nothing if the answer became known meanwhile. */
export async function updateOpenRefund(
  sql: Queryable,
  providerId: string,
  { reference, callKey, ...before }: RequestedRefund,
  change: RequestedRefundChange,
  now: Date,
): Promise<boolean> {
  const { status, sentAt, sends, message, dueAt } = { ...before, ...change }
  // Another process may have given the request a new key meanwhile, which this one must not replace.
  const changed = await sql`
    update requested_refunds set status = ${status}, call_key = ${change.callKey ?? callKey},
      sent_at = ${sentAt}, sends = ${sends}, message = ${message}, due_at = ${dueAt}, updated_at = ${now}
    where provider_id = ${providerId} and reference = ${reference} and status = 'open'
      and call_key = ${callKey}
    returning 1`
  return changed.length > 0
}

export type RequestedRefundName = {
  readonly providerId: string
  readonly reference: string
  /** Own reference of the customer who paid. */
  readonly customerRef: string
}

/** Claims due requests of all providers, the longest due first. No other process claims them before `againAt`. */
export async function claimDueRefunds(
  sql: Queryable,
  now: Date,
  againAt: Date,
  rowsMax: number,
): Promise<RequestedRefundName[]> {
  const rows = await sql<{ provider_id: string; reference: string; customer_ref: string }[]>`
    update requested_refunds as refund set due_at = ${againAt}
    from payment_intents as intent
    where (refund.provider_id, refund.reference) in (
        select provider_id, reference from requested_refunds where due_at <= ${now}
        order by due_at limit ${rowsMax} for update skip locked)
      and intent.provider_id = refund.provider_id and intent.reference = refund.intent_ref
    returning refund.provider_id, refund.reference, intent.customer_ref`
  return rows.map((row) => ({
    providerId: row.provider_id,
    reference: row.reference,
    customerRef: row.customer_ref,
  }))
}

/** Returns the condition that the row named `refund` pays out a part of a customer's balance. */
export function isPayout(sql: Queryable): Fragment {
  return sql`exists (
    select from requested_refunds as request where request.provider_id = refund.provider_id
      and request.processor_refund_id = refund.processor_refund_id
      and request.payout_ref is not null)`
}

/** Returns the sum of the requested refunds of a payment whose answer is not known. Minor units. */
export async function sumOpenRefunds(
  sql: Queryable,
  providerId: string,
  intentRef: string,
): Promise<bigint> {
  const [row] = await sql<{ total: string }[]>`
    select coalesce(sum(amount), 0)::text as total from requested_refunds
    where provider_id = ${providerId} and intent_ref = ${intentRef} and status = 'open'`
  return BigInt(row!.total)
}

function fromRow(row: RequestedRow): RequestedRefund {
  return {
    reference: row.reference,
    invoiceRef: row.invoice_ref,
    payoutRef: row.payout_ref,
    intentRef: row.intent_ref,
    goesTo: row.goes_to,
    amountMinor: row.amount,
    currency: row.currency,
    status: row.status,
    processorRefundId: row.processor_refund_id,
    callKey: row.call_key,
    sentAt: row.sent_at,
    sends: row.sends,
    message: row.message,
    dueAt: row.due_at,
    createdAt: row.created_at,
  }
}
