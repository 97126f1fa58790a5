import type { Queryable } from '@tollgate/platform/database/database'
import { isOnAdvancingClock, selectCustomersOfClock } from '../test-clocks/customer-time.ts'
import type { CycleMode } from '../periods/periods.ts'
import { jsonb } from '../postgres/jsonb.ts'
import type { PageRange } from '../postgres/select-page.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { taxFromJson, taxToJson, type TaxBreakdownJson } from '../invoices/tax-breakdown.ts'
import type { IntentPurpose, IntentSwitch, PaidWith, PaymentIntent } from './payment-intent.ts'
import type { IntentState } from './transitions.ts'

type IntentRow = {
  provider_id: string
  reference: string
  purpose: IntentPurpose
  customer_ref: string
  product_ref: string | null
  plan_ref: string | null
  plan_snapshot: PlanSnapshot | null
  cycle_mode: CycleMode
  checkout_session_id: string | null
  payment_method_id: string | null
  keeps_card: boolean
  status: IntentState
  amount: bigint
  original_amount: bigint
  balance_part: bigint
  currency: string
  exchange_rate: string
  tax: TaxBreakdownJson | null
  plan_switch: IntentSwitch | null
  credits: bigint | null
  description: string | null
  processor_customer_id: string | null
  processor_payment_id: string | null
  purchase_ref: string | null
  invoice_ref: string | null
  failure_reason: string | null
  declined_charges: string[]
  refund_wanted: boolean
  cancel_wanted: boolean
  settlement_wanted: boolean
  seller_name: string | null
  paid_with: PaidWith | null
  paid_method_id: string | null
  idempotency_key: string
  input_sha256: string
  expires_at: Date
  next_look_at: Date | null
  created_at: Date
  updated_at: Date
  succeeded_at: Date | null
}

/** Inserts a payment intent. Breaks a unique constraint if the idempotency key was used before. */
export async function insertIntent(
  sql: Queryable,
  providerId: string,
  intent: PaymentIntent,
): Promise<void> {
  await sql`
    insert into payment_intents
      (provider_id, reference, purpose, customer_ref, product_ref, plan_ref, plan_snapshot,
       cycle_mode, checkout_session_id, payment_method_id, keeps_card, status, amount, original_amount,
       balance_part, currency, exchange_rate, tax, plan_switch, credits, description, processor_customer_id, purchase_ref,
       invoice_ref, seller_name, idempotency_key, input_sha256, expires_at, next_look_at, created_at, updated_at,
       succeeded_at)
    values (${providerId}, ${intent.reference}, ${intent.purpose}, ${intent.customerRef},
      ${intent.productRef}, ${intent.planRef}, ${jsonb(sql, intent.planSnapshot)},
      ${intent.cycleMode}, ${intent.checkoutSessionId}, ${intent.paymentMethodId}, ${intent.keepsCard},
      ${intent.status}, ${intent.amountMinor.toString()}, ${intent.originalAmountMinor.toString()},
      ${intent.fromBalanceMinor.toString()}, ${intent.currency}, ${intent.exchangeRate}, ${jsonb(sql, intent.tax && taxToJson(intent.tax))},
      ${jsonb(sql, intent.planSwitch)},
      ${intent.credits?.toString() ?? null},
      ${intent.description}, ${intent.processorCustomerId}, ${intent.purchaseRef}, ${intent.invoiceRef},
      ${intent.sellerName},
      ${intent.idempotencyKey}, ${intent.inputSha256}, ${intent.expiresAt}, ${intent.nextLookAt}, ${intent.createdAt},
      ${intent.updatedAt}, ${intent.succeededAt})`
}

/** Stores all fields of an intent that can change after its creation. */
export async function updateIntent(
  sql: Queryable,
  providerId: string,
  intent: PaymentIntent,
): Promise<void> {
  await sql`
    update payment_intents set status = ${intent.status}, amount = ${intent.amountMinor.toString()},
      original_amount = ${intent.originalAmountMinor.toString()},
      balance_part = ${intent.fromBalanceMinor.toString()},
      tax = ${jsonb(sql, intent.tax && taxToJson(intent.tax))},
      processor_payment_id = ${intent.processorPaymentId}, purchase_ref = ${intent.purchaseRef},
      invoice_ref = ${intent.invoiceRef}, paid_with = ${jsonb(sql, intent.paidWith)},
      paid_method_id = ${intent.paidMethodId},
      failure_reason = ${intent.failureReason}, declined_charges = ${[...intent.declinedCharges]},
      refund_wanted = ${intent.refundWanted}, cancel_wanted = ${intent.cancelWanted},
      settlement_wanted = ${intent.settlementWanted},
      next_look_at = ${intent.nextLookAt}, updated_at = ${intent.updatedAt},
      succeeded_at = ${intent.succeededAt}
    where provider_id = ${providerId} and reference = ${intent.reference}`
}

/** Returns an intent and locks its row. Every process that changes an intent locks it first and decides by the locked state. */
export async function lockIntent(
  sql: Queryable,
  providerId: string,
  reference: string,
): Promise<PaymentIntent | undefined> {
  const [row] = await sql<IntentRow[]>`
    select * from payment_intents
    where provider_id = ${providerId} and reference = ${reference} for update`
  return row === undefined ? undefined : fromRow(row)
}

/** Returns an intent by our reference or the processor's id. */
export async function findIntent(
  sql: Queryable,
  providerId: string,
  anyReference: string,
): Promise<PaymentIntent | undefined> {
  const [row] = await sql<IntentRow[]>`
    select * from payment_intents where provider_id = ${providerId}
      and (reference = ${anyReference} or processor_payment_id = ${anyReference})`
  return row === undefined ? undefined : fromRow(row)
}

export async function findIntentByKey(
  sql: Queryable,
  providerId: string,
  idempotencyKey: string,
): Promise<PaymentIntent | undefined> {
  const [row] = await sql<IntentRow[]>`
    select * from payment_intents
    where provider_id = ${providerId} and idempotency_key = ${idempotencyKey}`
  return row === undefined ? undefined : fromRow(row)
}

/**
 * Returns the payment of the invoice that is not final, and locks its row. Undefined if no payment of the invoice can still
 * succeed.
 */
export async function lockIntentOfInvoice(
  sql: Queryable,
  providerId: string,
  invoiceRef: string,
): Promise<PaymentIntent | undefined> {
  const [row] = await sql<IntentRow[]>`
    select * from payment_intents
    where provider_id = ${providerId} and invoice_ref = ${invoiceRef}
      and status not in ('succeeded', 'canceled', 'failed') for update`
  return row === undefined ? undefined : fromRow(row)
}

/** Returns the successful payment of the invoice and locks its row. Late payments, which are refunded, are left out. */
export async function lockPaidIntentOfInvoice(
  sql: Queryable,
  providerId: string,
  invoiceRef: string,
): Promise<PaymentIntent | undefined> {
  const [row] = await sql<IntentRow[]>`
    select * from payment_intents
    where provider_id = ${providerId} and invoice_ref = ${invoiceRef}
      and status = 'succeeded' and failure_reason is null for update`
  return row === undefined ? undefined : fromRow(row)
}

/** Returns the payments of invoices by the customer in the currency, the newest first, and locks their rows. */
export async function lockRefundablePayments(
  sql: Queryable,
  providerId: string,
  { customerRef, currency }: { readonly customerRef: string; readonly currency: string },
  rowsMax: number,
): Promise<PaymentIntent[]> {
  const rows = await sql<IntentRow[]>`
    select * from payment_intents
    where provider_id = ${providerId} and customer_ref = ${customerRef} and currency = ${currency}
      and status = 'succeeded' and failure_reason is null and invoice_ref is not null
    order by succeeded_at desc, reference limit ${rowsMax} for update`
  return rows.map(fromRow)
}

/**
 * Requests cancellation of the payments of an invoice that is no longer to be paid. Returns whether any of them could still
 * succeed.
 */
export async function requestCancelOfInvoice(
  sql: Queryable,
  providerId: string,
  invoiceRef: string,
  now: Date,
): Promise<boolean> {
  const rows = await sql`
    update payment_intents set cancel_wanted = true, next_look_at = ${now}, updated_at = ${now}
    where provider_id = ${providerId} and invoice_ref = ${invoiceRef}
      and status not in ('succeeded', 'canceled', 'failed')
    returning 1`
  return rows.length > 0
}

/** Returns the number of payments of the invoice, in any state. */
export async function countIntentsOfInvoice(
  sql: Queryable,
  providerId: string,
  invoiceRef: string,
): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*)::int as count from payment_intents
    where provider_id = ${providerId} and invoice_ref = ${invoiceRef}`
  return row.count
}

/** Returns a page of the payments that the processor knows, newest first. */
export async function listIntents(
  sql: Queryable,
  providerId: string,
  { limit, offset }: PageRange,
): Promise<PaymentIntent[]> {
  const rows = await sql<IntentRow[]>`
    select * from payment_intents
    where provider_id = ${providerId} and processor_payment_id is not null
    order by created_at desc, reference limit ${limit} offset ${offset}`
  return rows.map(fromRow)
}

/** Returns the payment that completed the customer's checkout; undefined if nothing was paid on it. */
export async function findPaidOnCheckout(
  sql: Queryable,
  providerId: string,
  { customerRef, sessionId }: { readonly customerRef: string; readonly sessionId: string },
): Promise<PaymentIntent | undefined> {
  const [row] = await sql<IntentRow[]>`
    select * from payment_intents
    where provider_id = ${providerId} and customer_ref = ${customerRef}
      and checkout_session_id = ${sessionId} and status = 'succeeded' and not refund_wanted
    order by succeeded_at limit 1`
  return row === undefined ? undefined : fromRow(row)
}

/** Requests cancellation of the customer's other open payments for the same product. */
export async function requestCancelOfOthers(
  sql: Queryable,
  providerId: string,
  { reference, customerRef, productRef }: PaymentIntent,
  now: Date,
): Promise<void> {
  await sql`
    update payment_intents set cancel_wanted = true, next_look_at = ${now}, updated_at = ${now}
    where provider_id = ${providerId} and customer_ref = ${customerRef}
      and product_ref = ${productRef} and purpose = 'product' and reference <> ${reference}
      and status in ('creating', 'requires_payment_method', 'requires_action')
      and not cancel_wanted`
}

/** Requests cancellation of all open payments of a deleted customer. */
export async function requestCancelOfCustomer(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  now: Date,
): Promise<void> {
  await sql`
    update payment_intents set cancel_wanted = true, next_look_at = ${now}, updated_at = ${now}
    where provider_id = ${providerId} and customer_ref = ${customerRef}
      and status not in ('succeeded', 'canceled', 'failed')`
}

/** Stores the seller's name on a payment that has none. */
export async function setSellerName(
  sql: Queryable,
  providerId: string,
  reference: string,
  name: string,
): Promise<void> {
  await sql`
    update payment_intents set seller_name = ${name}
    where provider_id = ${providerId} and reference = ${reference} and seller_name is null`
}

export type IntentToPoll = IntentName & Pick<PaymentIntent, 'customerRef'>

type IntentName = { readonly providerId: string; readonly reference: string }

export type LocatedIntent = IntentName &
  Pick<PaymentIntent, 'customerRef' | 'status' | 'invoiceRef' | 'sellerName'>

/** Returns a payment's name and state, looked up across all providers. */
export async function locateIntent(
  sql: Queryable,
  by: { readonly processorPaymentId: string } | { readonly reference: string },
): Promise<LocatedIntent | undefined> {
  const condition =
    'reference' in by
      ? sql`reference = ${by.reference}`
      : sql`processor_payment_id = ${by.processorPaymentId}`
  const [row] = await sql<LocatedRow[]>`
    select provider_id, reference, customer_ref, status, invoice_ref, seller_name from payment_intents
    where ${condition}`
  if (row === undefined) return undefined
  const { provider_id: providerId, reference, status } = row
  return {
    ...{ providerId, reference, status, customerRef: row.customer_ref },
    ...{ invoiceRef: row.invoice_ref, sellerName: row.seller_name },
  }
}

type LocatedRow = Pick<
  IntentRow,
  'provider_id' | 'reference' | 'customer_ref' | 'status' | 'invoice_ref' | 'seller_name'
>

/** Returns the provider of each payment, keyed by the processor's payment id. */
export async function findIntentOwners(
  sql: Queryable,
  processorPaymentIds: readonly string[],
): Promise<Map<string, string>> {
  const rows = await sql<{ provider_id: string; processor_payment_id: string }[]>`
    select provider_id, processor_payment_id from payment_intents
    where processor_payment_id = any(${[...processorPaymentIds]})`
  return new Map(rows.map((row) => [row.processor_payment_id, row.provider_id]))
}

/** Returns the payments of a clock's customers that are due for a check at the processor, in real time. */
export async function listIntentsDueOfClock(
  sql: Queryable,
  clock: { readonly providerId: string; readonly reference: string },
): Promise<string[]> {
  const rows = await sql<{ reference: string }[]>`
    select reference from payment_intents
    where next_look_at <= clock_timestamp()
      and (provider_id, customer_ref) in (${selectCustomersOfClock(sql, clock)})
    order by next_look_at`
  return rows.map(({ reference }) => reference)
}

/**
 * Claims intents of all providers that are due for a check at the processor, the longest due first. Their next check is set to
 * `againAt`: no other process claims them before, and another process claims them then if this one dies.
 * Those of an advancing clock are left to its runner, which checks them before the clock moves on.
 */
export async function claimIntentsToPoll(
  sql: Queryable,
  now: Date,
  againAt: Date,
  rowsMax: number,
): Promise<IntentToPoll[]> {
  const rows = await sql<{ provider_id: string; reference: string; customer_ref: string }[]>`
    update payment_intents set next_look_at = ${againAt}
    where (provider_id, reference) in (
      select provider_id, reference from payment_intents where next_look_at <= ${now}
        and not ${isOnAdvancingClock(sql, sql`payment_intents`)}
      order by next_look_at limit ${rowsMax} for update skip locked)
    returning provider_id, reference, customer_ref`
  return rows.map((row) => {
    const { provider_id: providerId, reference, customer_ref: customerRef } = row
    return { providerId, reference, customerRef }
  })
}

function fromRow(row: IntentRow): PaymentIntent {
  return {
    reference: row.reference,
    purpose: row.purpose,
    customerRef: row.customer_ref,
    productRef: row.product_ref,
    planRef: row.plan_ref,
    planSnapshot: row.plan_snapshot,
    cycleMode: row.cycle_mode,
    checkoutSessionId: row.checkout_session_id,
    paymentMethodId: row.payment_method_id,
    keepsCard: row.keeps_card,
    status: row.status,
    amountMinor: row.amount,
    originalAmountMinor: row.original_amount,
    fromBalanceMinor: row.balance_part,
    currency: row.currency,
    exchangeRate: row.exchange_rate,
    tax: row.tax && taxFromJson(row.tax),
    planSwitch: row.plan_switch,
    credits: row.credits,
    description: row.description,
    processorCustomerId: row.processor_customer_id,
    processorPaymentId: row.processor_payment_id,
    purchaseRef: row.purchase_ref,
    invoiceRef: row.invoice_ref,
    failureReason: row.failure_reason,
    declinedCharges: row.declined_charges,
    refundWanted: row.refund_wanted,
    cancelWanted: row.cancel_wanted,
    settlementWanted: row.settlement_wanted,
    sellerName: row.seller_name,
    paidWith: row.paid_with,
    paidMethodId: row.paid_method_id,
    idempotencyKey: row.idempotency_key,
    inputSha256: row.input_sha256,
    expiresAt: row.expires_at,
    nextLookAt: row.next_look_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    succeededAt: row.succeeded_at,
  }
}
