import type { Queryable } from '@tollgate/platform/database/database'

export type RefundState = 'pending' | 'succeeded' | 'failed' | 'canceled'

export type PaymentRefund = {
  readonly processorRefundId: string
  readonly intentRef: string
  /** Minor units of `currency`, which is upper case. */
  readonly amountMinor: bigint
  /** Of the amount: tax that is not owed any more. */
  readonly taxMinor: bigint
  readonly currency: string
  readonly status: RefundState
  readonly reason: string | null
  readonly failureReason: string | null
  readonly createdAt: Date
}

/** The intent's lock orders who changes it. */
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

/** What is paid back or on its way, of one payment. Minor units. */
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

/** Whether a payment that the purchase was given for, or more credits for it, is not paid back in full. */
export async function isStillPaid(
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
