import type { Dispute } from '@tollgate/platform/payments/payment-objects'
import type { Queryable } from '@tollgate/platform/database/database'

export async function findDisputeStatus(
  sql: Queryable,
  providerId: string,
  processorDisputeId: string,
): Promise<Dispute['status'] | undefined> {
  const [row] = await sql<{ status: Dispute['status'] }[]>`
    select status from payment_disputes
    where provider_id = ${providerId} and processor_dispute_id = ${processorDisputeId}`
  return row?.status
}

export async function saveDispute(
  sql: Queryable,
  providerId: string,
  intentRef: string,
  dispute: Dispute,
  now: Date,
): Promise<void> {
  const changed = { status: dispute.status, reason: dispute.reason, updated_at: now }
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

/** What the customer's bank has taken back for good. Minor units. */
export async function lostMinorOf(
  sql: Queryable,
  providerId: string,
  intentRef: string,
): Promise<bigint> {
  const [row] = await sql<{ total: string }[]>`
    select coalesce(sum(amount), 0)::text as total from payment_disputes
    where provider_id = ${providerId} and intent_ref = ${intentRef} and status = 'lost'`
  return BigInt(row!.total)
}
