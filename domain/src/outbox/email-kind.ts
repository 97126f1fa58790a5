import type { EventType } from '@tollgate/schemas/event-types'
import type { EmailKind } from '@tollgate/schemas/http/emails'
import type { OutboxEvent } from './outbox-event.ts'

/** The kind of email that each event leads to. Events of other types lead to none. */
const kinds: ReadonlyMap<string, EmailKind> = new Map(
  Object.entries({
    'payment.succeeded': 'receipt',
    'purchase.renewal_reminder': 'renewal_upcoming',
    'purchase.trial_ending': 'trial_ending',
    // A payment in a checkout fails in front of the customer. These events are about charges of a saved card.
    'purchase.past_due': 'payment_failed',
    'purchase.suspended': 'payment_failed',
    'customer.credit.auto_topup_failed': 'payment_failed',
    'purchase.plan_changed': 'plan_changed',
    'purchase.plan_change_scheduled': 'plan_changed',
    'purchase.plan_change_withdrawn': 'plan_changed',
    'usage.limit_reached': 'budget_reached',
    'customer.credit.expiring': 'credits_expiring',
  } satisfies Partial<Record<EventType, EmailKind>>),
)

/** Reasons of events that are about no failed payment. */
const noFailures: ReadonlySet<unknown> = new Set([
  // The automatic top-up was not charged.
  'monthly_cap_too_low',
  'exchange_rate_missing',
  // The payment had succeeded, and the customer asked the bank to withdraw it.
  'charged_back',
])

/** Returns the kind of email that the event leads to, or null. */
export function emailKindOf({
  type,
  object,
}: Pick<OutboxEvent, 'type' | 'object'>): EmailKind | null {
  const kind = kinds.get(type) ?? null
  // The customer's balance has paid everything, so there is no payment to confirm.
  if (kind === 'receipt' && object['amount'] === 0) return null
  // Limits and wallets also have thresholds. Those are alerts for the provider.
  if (kind === 'budget_reached' && object['watches'] !== 'budget') return null
  if (kind === 'payment_failed' && noFailures.has(object['reason'])) return null
  return kind
}
