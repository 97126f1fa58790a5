import type { Dispute } from '@tollgate/platform/payments/payment-objects'
import type { Queryable } from '@tollgate/platform/database/database'
import type { StoredDispute } from './decide-dispute.ts'

/** Returns the stored state of a dispute. The caller holds the lock of the payment intent, which orders changes. */
export async function findDispute(
  sql: Queryable,
  providerId: string,
  processorDisputeId: string,
): Promise<StoredDispute | undefined> {
  const [row] = await sql<
    { status: Dispute['status']; movements: number | null; takes_access: boolean }[]
  >`
    select status, movements, takes_access from payment_disputes
    where provider_id = ${providerId} and processor_dispute_id = ${processorDisputeId}`
  if (row === undefined) return undefined
  return { status: row.status, movements: row.movements, takesAccess: row.takes_access }
}

export type DisputeRecord = {
  readonly intentRef: string
  readonly dispute: Dispute
  readonly paymentMethodId: string | null
  readonly takesAccess: boolean
}

export async function saveDispute(
  sql: Queryable,
  providerId: string,
  { intentRef, dispute, paymentMethodId, takesAccess }: DisputeRecord,
  now: Date,
): Promise<void> {
  const changed = {
    status: dispute.status,
    reason: dispute.reason,
    movements: dispute.movements.length,
    takes_access: takesAccess,
    payment_method_id: paymentMethodId,
    updated_at: now,
  }
  const row = {
    ...changed,
    provider_id: providerId,
    processor_dispute_id: dispute.id,
    intent_ref: intentRef,
    processor_charge_id: dispute.chargeId,
    amount: dispute.amountMinor.toString(),
    currency: dispute.currency,
    created_at: dispute.createdAt,
  }
  await sql`
    insert into payment_disputes ${sql(row)}
    on conflict (provider_id, processor_dispute_id) do update set ${sql(changed)}`
}

/** Returns the sum of the payment's lost disputes. Minor units. */
export async function sumLostDisputes(
  sql: Queryable,
  providerId: string,
  intentRef: string,
): Promise<bigint> {
  const [row] = await sql<{ total: string }[]>`
    select coalesce(sum(amount), 0)::text as total from payment_disputes
    where provider_id = ${providerId} and intent_ref = ${intentRef} and status = 'lost'`
  return BigInt(row!.total)
}

/**
 * Returns whether a dispute prevents that the payment method buys credits for the customer automatically: one that takes access, or an
 * open one of credits, which are taken back while the bank decides. `paymentMethodId` is the processor's id.
 */
export async function mayNotRecharge(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  paymentMethodId: string,
): Promise<boolean> {
  const rows = await sql`
    select 1 from payment_disputes
    where provider_id = ${providerId} and payment_method_id = ${paymentMethodId} and takes_access
    union all
    select 1 from payment_intents as paid
    join payment_disputes as dispute on dispute.provider_id = paid.provider_id
      and dispute.intent_ref = paid.reference
    where paid.provider_id = ${providerId} and paid.customer_ref = ${customerRef}
      and paid.credits is not null and dispute.payment_method_id = ${paymentMethodId}
      and dispute.status in ('needs_response', 'under_review')
    limit 1`
  return rows.length > 0
}

/** Returns whether the customer has a payment for the product with a dispute that takes access away. */
export async function hasDisputedPayment(
  sql: Queryable,
  providerId: string,
  { customerRef, productRef }: { readonly customerRef: string; readonly productRef: string },
): Promise<boolean> {
  const rows = await sql`
    select 1 from payment_intents as paid
    join payment_disputes as dispute on dispute.provider_id = paid.provider_id
      and dispute.intent_ref = paid.reference and dispute.takes_access
    where paid.provider_id = ${providerId} and customer_ref = ${customerRef}
      and product_ref = ${productRef} limit 1`
  return rows.length > 0
}
