import type { Queryable } from '@tollgate/platform/database/database'
import fc from 'fast-check'

/* Money that was paid and returned, stored directly. */

export const now = '2026-04-02T09:00:00.000Z'
const dayMs = 86_400_000

/** Times of the last 45 days. */
export const at = fc
  .integer({ min: -45 * dayMs, max: 0 })
  .map((before) => new Date(Date.parse(now) + before))
const amount = fc.integer({ min: 1, max: 1_000_000 })
const currency = fc.constantFrom('USD', 'EUR', 'JPY')
export const movement = fc.record({
  kind: fc.constantFrom('paid', 'outside', 'refund', 'failed refund', 'payout', 'dispute', 'won'),
  at,
  amount,
  currency,
})
export type Movement = typeof movement extends fc.Arbitrary<infer Value> ? Value : never

/** Stores a movement without the objects that it would refer to. */
export async function storeMovement(
  sql: Queryable,
  { providerId, customerRef }: { readonly providerId: string; readonly customerRef: string },
  { kind, amount: minor, ...moved }: Movement,
  index: number,
): Promise<void> {
  const reference = `ref_${index}`
  if (kind === 'paid') {
    await sql`insert into payment_intents
      (provider_id, reference, purpose, customer_ref, cycle_mode, keeps_card, status, amount, original_amount,
       currency, exchange_rate, processor_customer_id, idempotency_key, input_sha256, expires_at, created_at,
       updated_at, succeeded_at)
      values (${providerId}, ${reference}, 'product', ${customerRef}, 'calendar', false, 'succeeded', 1, ${minor},
        ${moved.currency}, 1, 'cus', ${reference}, '', now(), now(), now(), ${moved.at})`
  } else if (kind === 'outside') {
    await sql`insert into invoices (provider_id, reference, status, customer_ref, currency, total, created_at, updated_at)
      values (${providerId}, ${reference}, 'draft', ${customerRef}, ${moved.currency}, ${minor}, now(), now())`
    await sql`insert into invoice_decisions
      (provider_id, reference, invoice_ref, kind, amount, reason, decided_by, input_sha256, created_at)
      values (${providerId}, ${reference}, ${reference}, 'paid_outside', ${minor}, '', '', '', ${moved.at})`
  } else if (kind === 'payout') {
    await sql`insert into balance_payouts
      (provider_id, reference, customer_ref, amount, currency, goes_to, reason, decided_by, input_sha256, created_at)
      values (${providerId}, ${reference}, ${customerRef}, ${minor}, ${moved.currency}, 'other', '', '', '', ${moved.at})`
  } else if (kind === 'refund' || kind === 'failed refund') {
    await sql`insert into payment_refunds
      (provider_id, processor_refund_id, intent_ref, amount, currency, status, created_at, updated_at)
      values (${providerId}, ${reference}, 'ref_0', ${minor}, ${moved.currency},
        ${kind === 'refund' ? 'succeeded' : 'failed'}, ${moved.at}, now())`
  } else {
    await sql`insert into payment_disputes
      (provider_id, processor_dispute_id, intent_ref, processor_charge_id, amount, currency, status, reason, created_at, updated_at)
      values (${providerId}, ${reference}, 'ref_0', 'ch', ${minor}, ${moved.currency},
        ${kind === 'won' ? 'won' : 'needs_response'}, '', ${moved.at}, now())`
  }
}

type Sums = { currency: string; paid: number; refunded: number; disputed: number; net: number }

/** Sums movements by currency in the simplest way. */
export function sumMovements(movements: readonly Movement[]): Sums[] {
  const sums = new Map<string, Sums>()
  for (const { kind, amount: minor, currency: of } of movements) {
    if (kind === 'failed refund' || kind === 'won') continue
    const sum = sums.get(of) ?? { currency: of, paid: 0, refunded: 0, disputed: 0, net: 0 }
    if (kind === 'paid' || kind === 'outside') sum.paid += minor
    else if (kind === 'dispute') sum.disputed += minor
    else sum.refunded += minor
    sum.net = sum.paid - sum.refunded - sum.disputed
    sums.set(of, sum)
  }
  return [...sums.values()].sort((one, other) => (one.currency < other.currency ? -1 : 1))
}
