import type { Books } from './books.ts'

/** Conditions of the happenings in a story, as SQL. */
const conditions = {
  payment: `payment_intents where status = 'succeeded'`,
  'payment that was paid back': `payment_intents
    where status = 'succeeded' and failure_reason is not null`,
  'automatic top-up': `payment_intents
    where status = 'succeeded' and purpose = 'credit_topup' and payment_method_id is not null`,
  'renewal that was paid': `invoices where paid > 0 and ${chargesFor('recurring')}`,
  'bill of usage that was paid': `invoices where paid > 0 and ${chargesFor('usage')}`,
  'bill of both': `invoices where paid > 0 and ${chargesFor('usage')} and ${chargesFor('recurring')}`,
  'add-on of a period': `invoice_lines where kind = 'add_on'`,
  'grant of scheduled credits': `credit_schedule_grants where outcome = 'granted'`,
  'line of late usage': `invoice_lines where kind = 'late_usage'`,
  'change of plan that was paid': `invoice_lines where kind = 'proration' and amount > 0`,
  'change of plan that was credited': `invoice_lines where kind = 'proration' and amount < 0`,
  'invoice that could not be charged': `invoices where failed_charges > 0`,
  'invoice that was paid after that': `invoices where failed_charges > 0 and paid > 0`,
  'invoice that is void': `invoices where status = 'void'`,
  'invoice that is uncollectible': `invoices where status = 'uncollectible'`,
  'invoice that was credited by decision': `invoice_decisions where kind = 'credited'`,
  'invoice that was voided by decision': `invoice_decisions where kind = 'voided'`,
  'invoice that was written off by decision': `invoice_decisions where kind = 'written_off'`,
  'invoice that was paid outside': `invoice_decisions where kind = 'paid_outside'`,
  'refund to the card by decision': `requested_refunds
    where goes_to = 'card' and status = 'done' and invoice_ref is not null`,
  'refund to the balance by decision': `requested_refunds where goes_to = 'balance'`,
  'refund that was taken from the balance': `payment_refunds as refund
    where from_balance > 0 and not exists (select from requested_refunds as request
      where request.processor_refund_id = refund.processor_refund_id and payout_ref is not null)`,
  'payout of a balance': `balance_payouts where true`,
  'item that was charged': `invoice_items where invoice_ref is not null`,
  'usage that was written off': `ledger_transactions where kind = 'usage_written_off'`,
  'credits that were forfeited': `ledger_transactions where transaction_key like 'forfeiture:%'`,
  'customer that was deleted': `customers where status = 'deleted'`,
  'invoice that was refunded': `invoices where refunded > 0`,
  refund: `payment_refunds where status = 'succeeded'`,
  'refund that failed': `payment_refunds where status = 'failed'`,
  dispute: `payment_disputes where true`,
  'credits taken back': `credit_take_backs where taken_micros > 0`,
  'credits given back': `credit_take_backs where taken_micros > 0 and given_back_at is not null`,
  'purchase that stands still': `purchases where status = 'suspended'`,
  'invoice of own lines': `invoice_decisions where kind = 'issued'`,
  'discount of a coupon': `invoice_lines where kind = 'discount' and amount < 0`,
  'correction of usage': `usage_corrections where records_corrected > 0`,
  'credit of billed usage': `invoice_lines where kind = 'late_usage' and amount < 0`,
  'minimum that was charged': `invoice_lines where kind = 'minimum' and amount > 0`,
  'purchase that was moved': `plan_migration_items where status = 'moved'`,
  'purchase that the provider changed': `purchases as changed where is_scheduled_by_provider
    and exists (select from purchases as next where next.provider_id = changed.provider_id
      and next.replaces = changed.reference)`,
  'sale that the balance paid for': `payment_intents where status = 'succeeded' and balance_part > 0`,
  'card that was entered': `card_setups where ended_at is not null`,
} as const

export type Happening = keyof typeof conditions
export type Happenings = Readonly<Record<Happening, number>>

export const happenings = Object.keys(conditions) as readonly Happening[]

function chargesFor(part: 'recurring' | 'usage'): string {
  return `exists (select from billed_periods as billed where invoice_ref = invoices.reference
    and billed.provider_id = invoices.provider_id and part = '${part}')`
}

/** Returns how often each happening occurred. */
export async function countHappenings({ sql, providerId }: Books): Promise<Happenings> {
  const counts = happenings.map(
    (name) => `(select count(*)::int from ${conditions[name]} and provider_id = $1) as "${name}"`,
  )
  const [row] = await sql.unsafe<Happenings[]>(`select ${counts.join(', ')}`, [providerId])
  return row!
}
