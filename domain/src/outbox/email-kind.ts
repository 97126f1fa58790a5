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
    'usage.limit_reached': 'budget_reached',
    'customer.credit.expiring': 'credits_expiring',
  } satisfies Partial<Record<EventType, EmailKind>>),
)

/** Why an automatic top-up was not even charged. */
const rechargeObstacles: ReadonlySet<unknown> = new Set([
  'monthly_cap_too_low',
  'exchange_rate_missing',
])

/** Returns the kind of email that the event leads to, or null. */
export function emailKindOf({
  type,
  object,
}: Pick<OutboxEvent, 'type' | 'object'>): EmailKind | null {
  const kind = kinds.get(type) ?? null
  // Limits and wallets also have thresholds. Those are alerts for the provider.
  if (kind === 'budget_reached' && object['watches'] !== 'budget') return null
  // Nothing was charged, so there is no payment that failed.
  const isUncharged = rechargeObstacles.has(object['reason'])
  return type === 'customer.credit.auto_topup_failed' && isUncharged ? null : kind
}
