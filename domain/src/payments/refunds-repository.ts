import type { Queryable } from '@tollgate/platform/database/database'

export type RefundState = 'pending' | 'succeeded' | 'failed' | 'canceled'

export type PaymentRefund = {
  readonly processorRefundId: string
  readonly intentRef: string
  /** Amount in minor units of `currency`, which is in upper case. */
  readonly amountMinor: bigint
  /** Part of the amount that is tax. */
  readonly taxMinor: bigint
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
): Promise<Pick<PaymentRefund, 'status' | 'taxMinor'> | undefined> {
  const [row] = await sql<{ status: RefundState; tax: bigint }[]>`
    select status, tax from payment_refunds
    where provider_id = ${providerId} and processor_refund_id = ${processorRefundId}`
  return row === undefined ? undefined : { status: row.status, taxMinor: row.tax }
}

export async function saveRefund(
  sql: Queryable,
  providerId: string,
  refund: PaymentRefund,
  now: Date,
): Promise<void> {
  const { status, reason, failureReason } = refund
  const changed = { status, reason, failure_reason: failureReason, updated_at: now }
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

/** Returns the sum without tax of the refunds that are requested for the payment of the invoice and have not ended. Minor units. */
export async function sumPendingRefunds(
  sql: Queryable,
  providerId: string,
  invoiceRef: string,
): Promise<bigint> {
  const [row] = await sql<{ total: string }[]>`
    select coalesce(sum(refund.amount - refund.tax), 0)::text as total
    from payment_refunds as refund
    join payment_intents as paid on paid.provider_id = refund.provider_id
      and paid.reference = refund.intent_ref
    where refund.provider_id = ${providerId} and refund.status = 'pending'
      and paid.invoice_ref = ${invoiceRef} and not paid.refund_wanted`
  return BigInt(row!.total)
}

/** Returns whether any payment for the purchase or for its credits is not refunded in full. Payments of invoices do not count. */
export async function hasUnrefundedPayment(
  sql: Queryable,
  providerId: string,
  { customerRef, purchaseRef }: { readonly customerRef: string; readonly purchaseRef: string },
): Promise<boolean> {
  const [row] = await sql<{ is_paid: boolean }[]>`
    select exists (
      select from payment_intents as paid
      where provider_id = ${providerId} and customer_ref = ${customerRef}
        and purchase_ref = ${purchaseRef} and status = 'succeeded' and purpose <> 'usage_billing'
        and original_amount > (
          select coalesce(sum(amount), 0) from payment_refunds
          where provider_id = ${providerId} and intent_ref = paid.reference
            and status = 'succeeded')
    ) as is_paid`
  return row!.is_paid
}
