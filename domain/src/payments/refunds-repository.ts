import type { Queryable } from '@tollgate/platform/database/database'

export type RefundState = 'pending' | 'succeeded' | 'failed' | 'canceled'

export type PaymentRefund = {
  readonly processorRefundId: string
  readonly intentRef: string
  /** Minor units of `currency`, which is upper case. */
  readonly amountMinor: bigint
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
): Promise<Pick<PaymentRefund, 'status'> | undefined> {
  const [row] = await sql<{ status: RefundState }[]>`
    select status from payment_refunds
    where provider_id = ${providerId} and processor_refund_id = ${processorRefundId}`
  return row
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
    currency: refund.currency,
    created_at: refund.createdAt,
  }
  await sql`
    insert into payment_refunds ${sql(row)}
    on conflict (provider_id, processor_refund_id) do update set ${sql(changed)}`
}

/** What has been paid back for good, as far as can be known. Minor units. */
export async function refundedMinorOf(
  sql: Queryable,
  providerId: string,
  intentRef: string,
): Promise<bigint> {
  const [row] = await sql<{ total: string }[]>`
    select coalesce(sum(amount), 0)::text as total from payment_refunds
    where provider_id = ${providerId} and intent_ref = ${intentRef} and status = 'succeeded'`
  return BigInt(row!.total)
}
