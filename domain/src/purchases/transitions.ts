import type { EventType } from '@tollgate/schemas/event-types'
import type { PurchaseStatus } from '@tollgate/schemas/http/purchases'

/** Causes of transitions of a purchase. */
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
  | 'purchase.plan_change_scheduled'
  | 'purchase.plan_change_withdrawn'
  | 'purchase.trial_ending'
  | 'purchase.renewal_reminder'
>

export type Transition = {
  readonly from: readonly PurchaseStatus[]
  /** Whether a cancellation must be pending (true), must not be pending (false), or does not matter (absent). */
  readonly pendingCancellation?: boolean
  /** Absent if the status stays. */
  readonly to?: PurchaseStatus
  /** The event that the transition emits. */
  readonly event: MoveEvent
}

const unended = ['pending', 'active', 'trialing', 'past_due', 'suspended'] as const

/** All transitions of a purchase. Others are not allowed. */
export const purchaseTransitions: Readonly<Record<PurchaseTrigger, Transition>> = {
  paid: { from: ['pending', 'suspended'], to: 'active', event: 'purchase.activated' },
  'trial-converted': {
    from: ['trialing'],
    pendingCancellation: false,
    to: 'active',
    event: 'purchase.trial_converted',
  },
  // No payment was due, so this is not a conversion.
  'trial-ended-free': {
    from: ['trialing'],
    pendingCancellation: false,
    to: 'active',
    event: 'purchase.updated',
  },
  'trial-unpaid': { from: ['trialing'], to: 'suspended', event: 'purchase.suspended' },
  // Also allowed for a purchase cancelled too late for its notice, which has a billing date until its last period begins.
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
  // The payment was for usage, so no period begins.
  'debt-paid': { from: ['past_due'], to: 'active', event: 'purchase.updated' },
  'retries-spent': { from: ['past_due'], to: 'suspended', event: 'purchase.suspended' },
  // The customer's bank withdrew the payment for the purchase.
  'charged-back': {
    from: ['active', 'past_due'],
    to: 'suspended',
    event: 'purchase.suspended',
  },
  // The customer's bank returned the payment.
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
  // The change of plan that had ended the purchase was refunded.
  restored: { from: ['expired'], to: 'active', event: 'purchase.activated' },
}

/** Fields of a purchase that decide which transitions it allows. */
export type PurchaseState = {
  readonly status: PurchaseStatus
  readonly cancelledAt: Date | null
}

export function canMove(purchase: PurchaseState, trigger: PurchaseTrigger): boolean {
  const { from, pendingCancellation } = purchaseTransitions[trigger]
  if (!from.includes(purchase.status)) return false
  return pendingCancellation === undefined || pendingCancellation === isEnding(purchase)
}

/** Returns whether the purchase is cancelled but still gives access until its end. */
export function isEnding({ status, cancelledAt }: PurchaseState): boolean {
  return (status === 'active' || status === 'trialing') && cancelledAt !== null
}
