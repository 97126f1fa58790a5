import type { Queryable } from '@tollgate/platform/database/database'
import { selectPage, type PageRange } from '../postgres/select-page.ts'
import type { DecisionKey } from './repository.ts'

/** A part of a customer's balance that was paid out. It is never changed. */
export type BalancePayout = {
  readonly reference: string
  readonly customerRef: string
  /** Minor units of `currency`, which is in upper case. */
  readonly amountMinor: bigint
  readonly currency: string
  /** To cards that the customer has paid with, or by other means than the payment processor. */
  readonly goesTo: 'card' | 'other'
  readonly reason: string
  /** Name of the actor, as in the audit log. */
  readonly decidedBy: string
  readonly createdAt: Date
}

export async function insertPayout(
  sql: Queryable,
  providerId: string,
  payout: BalancePayout,
  { idempotencyKey, inputSha256 }: DecisionKey,
): Promise<void> {
  const { reference, customerRef, amountMinor, currency, goesTo, reason, decidedBy } = payout
  await sql`
    insert into balance_payouts
      (provider_id, reference, customer_ref, amount, currency, goes_to, reason, decided_by,
       idempotency_key, input_sha256, created_at)
    values (${providerId}, ${reference}, ${customerRef}, ${amountMinor.toString()}, ${currency},
      ${goesTo}, ${reason}, ${decidedBy}, ${idempotencyKey}, ${inputSha256}, ${payout.createdAt})`
}

/** Returns the payout that was made under the idempotency key. */
export async function findPayoutOfKey(
  sql: Queryable,
  providerId: string,
  idempotencyKey: string,
): Promise<{ readonly payout: BalancePayout; readonly inputSha256: string } | undefined> {
  const [row] = await sql<(PayoutRow & { input_sha256: string })[]>`
    select * from balance_payouts
    where provider_id = ${providerId} and idempotency_key = ${idempotencyKey}`
  return row && { payout: fromRow(row), inputSha256: row.input_sha256 }
}

/** Returns a page of the payouts of a customer's balances, newest first. */
export async function listPayouts(
  sql: Queryable,
  providerId: string,
  customerRef: string,
  page: PageRange,
): Promise<{ readonly payouts: BalancePayout[]; readonly total: number }> {
  const matching = sql`
    from balance_payouts where provider_id = ${providerId} and customer_ref = ${customerRef}`
  const order = sql`created_at desc, reference desc`
  const { rows, total } = await selectPage<PayoutRow>(sql, matching, order, page)
  return { payouts: rows.map(fromRow), total }
}

type PayoutRow = {
  reference: string
  customer_ref: string
  amount: bigint
  currency: string
  goes_to: BalancePayout['goesTo']
  reason: string
  decided_by: string
  created_at: Date
}

function fromRow(row: PayoutRow): BalancePayout {
  return {
    reference: row.reference,
    customerRef: row.customer_ref,
    amountMinor: row.amount,
    currency: row.currency,
    goesTo: row.goes_to,
    reason: row.reason,
    decidedBy: row.decided_by,
    createdAt: row.created_at,
  }
}
