import type { EventType } from '@tollgate/schemas/event-types'
import type { PurchaseStatus } from '@tollgate/schemas/http/purchases'

/** What can happen to a purchase after it was made. */
export type PurchaseTrigger =
  | 'paid'
  | 'trial-converted'
  | 'trial-ended-free'
  | 'trial-unpaid'
  | 'renewed'
  | 'renewal-failed'
  | 'debt-paid'
  | 'retries-spent'
  | 'charged-back'
  | 'dispute-won'
  | 'cancellation-scheduled'
  | 'cancelled'
  | 'reactivated'
  | 'expired'
  | 'refunded'
  | 'restored'

type MoveEvent = Exclude<
  Extract<EventType, `purchase.${string}`>,
  | 'purchase.created'
  | 'purchase.plan_changed'
  | 'purchase.trial_ending'
  | 'purchase.renewal_reminder'
>

export type Transition = {
  readonly from: readonly PurchaseStatus[]
  /** Whether a cancellation at the period's end must be pending (true), must not be (false), or does not matter. */
  readonly pendingCancellation?: boolean
  /** Absent: the status stays. */
  readonly to?: PurchaseStatus
  /** The event that tells of it. */
  readonly event: MoveEvent
}

const unended = ['pending', 'active', 'trialing', 'past_due', 'suspended'] as const

/** Every move that a purchase can make. What is not in this table does not happen. */
export const purchaseTransitions: Readonly<Record<PurchaseTrigger, Transition>> = {
  paid: { from: ['pending', 'suspended'], to: 'active', event: 'purchase.activated' },
  'trial-converted': {
    from: ['trialing'],
    pendingCancellation: false,
    to: 'active',
    event: 'purchase.trial_converted',
  },
  // Nothing was to be paid, so nothing was converted.
  'trial-ended-free': {
    from: ['trialing'],
    pendingCancellation: false,
    to: 'active',
    event: 'purchase.updated',
  },
  'trial-unpaid': { from: ['trialing'], to: 'suspended', event: 'purchase.suspended' },
  // Also of one that was cancelled too late for its notice: it has a billing date until its last period begins.
  renewed: {
    from: ['active', 'past_due'],
    to: 'active',
    event: 'purchase.renewed',
  },
  'renewal-failed': {
    from: ['active'],
    to: 'past_due',
    event: 'purchase.past_due',
  },
  // Usage was paid for: no period begins by it.
  'debt-paid': { from: ['past_due'], to: 'active', event: 'purchase.updated' },
  'retries-spent': { from: ['past_due'], to: 'suspended', event: 'purchase.suspended' },
  // The customer's bank took back what was paid for it.
  'charged-back': {
    from: ['active', 'past_due'],
    to: 'suspended',
    event: 'purchase.suspended',
  },
  // And gave it back after all.
  'dispute-won': { from: ['suspended'], to: 'active', event: 'purchase.activated' },
  'cancellation-scheduled': {
    from: ['active', 'trialing'],
    pendingCancellation: false,
    event: 'purchase.cancellation_scheduled',
  },
  cancelled: { from: unended, to: 'cancelled', event: 'purchase.cancelled' },
  reactivated: {
    from: ['active', 'trialing'],
    pendingCancellation: true,
    event: 'purchase.reactivated',
  },
  expired: { from: unended, to: 'expired', event: 'purchase.expired' },
  refunded: {
    from: [...unended, 'cancelled', 'expired'],
    to: 'refunded',
    event: 'purchase.refunded',
  },
  // The change of plan that had ended it was paid back.
  restored: { from: ['expired'], to: 'active', event: 'purchase.activated' },
}

/** What of a purchase decides which moves it can make. */
export type PurchaseState = {
  readonly status: PurchaseStatus
  readonly cancelledAt: Date | null
}

export function canMove(purchase: PurchaseState, trigger: PurchaseTrigger): boolean {
  const { from, pendingCancellation } = purchaseTransitions[trigger]
  if (!from.includes(purchase.status)) return false
  return pendingCancellation === undefined || pendingCancellation === isEnding(purchase)
}

/** Cancelled, with access until the end of what is paid. */
export function isEnding({ status, cancelledAt }: PurchaseState): boolean {
  return (status === 'active' || status === 'trialing') && cancelledAt !== null
}
