import type { Queryable } from '@tollgate/platform/database/database'
import type { Payout } from '@tollgate/platform/payments/payment-objects'

/** Returns the stored status and locks the row. Undefined if the payout is new. */
export async function lockPayout(
  sql: Queryable,
  providerId: string,
  { id }: Pick<Payout, 'id'>,
): Promise<Payout['status'] | undefined> {
  const [row] = await sql<{ status: Payout['status'] }[]>`
    select status from payouts
    where provider_id = ${providerId} and processor_payout_id = ${id} for update`
  return row?.status
}

/** If two processes insert the same payout at once, the second breaks the primary key and its transaction is retried. */
export async function savePayout(
  sql: Queryable,
  providerId: string,
  payout: Payout,
  now: Date,
): Promise<void> {
  const changed = { status: payout.status, arrival_date: payout.arrivalDate, updated_at: now }
  const key = { provider_id: providerId, processor_payout_id: payout.id }
  const updated = await sql`
    update payouts set ${sql(changed)}
    where provider_id = ${providerId} and processor_payout_id = ${payout.id}`
  if (updated.count > 0) return
  const amount = payout.amountMinor.toString()
  const row = { amount, currency: payout.currency, created_at: payout.createdAt }
  await sql`insert into payouts ${sql({ ...changed, ...key, ...row })}`
}
