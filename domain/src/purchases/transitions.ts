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
  | 'cancellation-scheduled'
  | 'cancelled'
  | 'reactivated'
  | 'expired'
  | 'refunded'

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
export const transitions: Readonly<Record<PurchaseTrigger, Transition>> = {
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
  renewed: {
    from: ['active', 'past_due'],
    pendingCancellation: false,
    to: 'active',
    event: 'purchase.renewed',
  },
  'renewal-failed': {
    from: ['active'],
    pendingCancellation: false,
    to: 'past_due',
    event: 'purchase.past_due',
  },
  // Usage was paid for: no period begins by it.
  'debt-paid': { from: ['past_due'], to: 'active', event: 'purchase.updated' },
  'retries-spent': { from: ['past_due'], to: 'suspended', event: 'purchase.suspended' },
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
}

/** What of a purchase decides which moves it can make. */
export type PurchaseState = {
  readonly status: PurchaseStatus
  readonly cancelledAt: Date | null
}

export function canMove(purchase: PurchaseState, trigger: PurchaseTrigger): boolean {
  const { from, pendingCancellation } = transitions[trigger]
  if (!from.includes(purchase.status)) return false
  return pendingCancellation === undefined || pendingCancellation === isEnding(purchase)
}

/** Cancelled, with access until the end of what is paid. */
export function isEnding({ status, cancelledAt }: PurchaseState): boolean {
  return (status === 'active' || status === 'trialing') && cancelledAt !== null
}
