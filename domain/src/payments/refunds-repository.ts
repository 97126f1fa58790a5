import type { Queryable } from '@tollgate/platform/database/database'
import { isReturned } from '../invoices/is-returned.ts'

export type RefundState = 'pending' | 'succeeded' | 'failed' | 'canceled'

export type PaymentRefund = {
  readonly processorRefundId: string
  readonly intentRef: string
  /** Amount in minor units of `currency`, which is in upper case. */
  readonly amountMinor: bigint
  /** Part of the amount that is tax. */
  readonly taxMinor: bigint
  /** Part of the amount that was credited to the customer's balance before, and is taken from there. */
  readonly fromBalanceMinor: bigint
  readonly currency: string
  readonly status: RefundState
  readonly reason: string | null
  readonly failureReason: string | null
  readonly createdAt: Date
}

/** Returns the stored state of a refund. The caller holds the lock of the payment intent, which orders changes. */
export async function findRefund(
  sql: Queryable,
  providerId: string,
  processorRefundId: string,
): Promise<KnownRefund | undefined> {
  const [row] = await sql<{ status: RefundState; tax: bigint; from_balance: bigint }[]>`
    select status, tax, from_balance from payment_refunds
    where provider_id = ${providerId} and processor_refund_id = ${processorRefundId}`
  if (row === undefined) return undefined
  return { status: row.status, taxMinor: row.tax, fromBalanceMinor: row.from_balance }
}

type KnownRefund = Pick<PaymentRefund, 'status' | 'taxMinor' | 'fromBalanceMinor'>

export async function saveRefund(
  sql: Queryable,
  providerId: string,
  refund: PaymentRefund,
  now: Date,
): Promise<void> {
  const { status, reason, failureReason } = refund
  const changed = {
    status,
    reason,
    failure_reason: failureReason,
    from_balance: refund.fromBalanceMinor.toString(),
    updated_at: now,
  }
  const row = {
    ...changed,
    provider_id: providerId,
    processor_refund_id: refund.processorRefundId,
    intent_ref: refund.intentRef,
    amount: refund.amountMinor.toString(),
    tax: refund.taxMinor.toString(),
    currency: refund.currency,
    created_at: refund.createdAt,
  }
  await sql`
    insert into payment_refunds ${sql(row)}
    on conflict (provider_id, processor_refund_id) do update set ${sql(changed)}`
}

/** Returns the sums of pending and successful refunds of one payment. Minor units. */
export async function sumRefunds(
  sql: Queryable,
  providerId: string,
  intentRef: string,
): Promise<{ readonly amountMinor: bigint; readonly taxMinor: bigint }> {
  const [row] = await sql<{ amount: string; tax: string }[]>`
    select coalesce(sum(amount), 0)::text as amount, coalesce(sum(tax), 0)::text as tax
    from payment_refunds
    where provider_id = ${providerId} and intent_ref = ${intentRef}
      and status in ('pending', 'succeeded')`
  return { amountMinor: BigInt(row!.amount), taxMinor: BigInt(row!.tax) }
}

/**
 * Returns the sum without tax of the refunds that are requested for the payment of the invoice and have not ended, also of those that
 * the processor has not confirmed yet. Minor units.
 */
export async function sumPendingRefunds(
  sql: Queryable,
  providerId: string,
  invoiceRef: string,
): Promise<bigint> {
  const [row] = await sql<{ total: string }[]>`
    select ((
      select coalesce(sum(refund.amount - refund.tax - refund.from_balance), 0)
      from payment_refunds as refund
      join payment_intents as paid on paid.provider_id = refund.provider_id
        and paid.reference = refund.intent_ref
      where refund.provider_id = ${providerId} and refund.status = 'pending'
        and paid.invoice_ref = ${invoiceRef} and not paid.refund_wanted
    ) + (
      select coalesce(sum(amount), 0) from requested_refunds
      where provider_id = ${providerId} and invoice_ref = ${invoiceRef} and status = 'open'
    ))::text as total`
  return BigInt(row!.total)
}

/**
 * Returns whether any payment for the purchase or for its credits is not returned in full. Payments of invoices do not count. The
 * invoice of a sale says what was returned, also of the part that the balance paid. Payments from before every sale had an invoice are
 * returned by refunds at the processor.
 */
export async function hasUnrefundedPayment(
  sql: Queryable,
  providerId: string,
  { customerRef, purchaseRef }: { readonly customerRef: string; readonly purchaseRef: string },
): Promise<boolean> {
  const rows = await sql<{ invoice_ref: string | null; is_refunded: boolean }[]>`
    select invoice_ref, original_amount <= (
        select coalesce(sum(amount - from_balance), 0) from payment_refunds
        where provider_id = ${providerId} and intent_ref = paid.reference
          and status = 'succeeded') as is_refunded
    from payment_intents as paid
    where provider_id = ${providerId} and customer_ref = ${customerRef}
      and purchase_ref = ${purchaseRef} and status = 'succeeded' and purpose <> 'usage_billing'`
  for (const { invoice_ref: invoiceRef, is_refunded: isRefunded } of rows) {
    const isBack = invoiceRef === null ? isRefunded : await isReturned(sql, providerId, invoiceRef)
    if (!isBack) return true
  }
  return false
}
