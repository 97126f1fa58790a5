import { periodAt } from '../periods/periods.ts'
import { cycleOf, isLapsed } from './access.ts'
import { endAfterNotice } from './notice.ts'
import type { Purchase } from './repository.ts'
import { canMove, isEnding } from './transitions.ts'

export type CancelDecision =
  /**
   * Access continues until `endDate`. `renewsAt`: the notice came too late for the end of the paid period, so the next period
   * begins then and is charged. Null if no further period is charged in advance.
   */
  | { readonly kind: 'schedule'; readonly endDate: Date; readonly renewsAt: Date | null }
  | { readonly kind: 'end-now' }
  /** The purchase was cancelled before. */
  | { readonly kind: 'already-cancelled' }
  | { readonly kind: 'refuse' }

/**
 * Decides how a purchase is cancelled. A renewing purchase ends with its paid period or its notice, and any other purchase ends at
 * once.
 */
export function decideCancel(purchase: Purchase, now: Date): CancelDecision {
  if (purchase.status === 'cancelled' || isEnding(purchase)) return { kind: 'already-cancelled' }
  // A top-up is a past payment, so there is nothing to end.
  if (purchase.planRef === null || isLapsed(purchase, now)) return { kind: 'refuse' }
  if (canMove(purchase, 'cancellation-scheduled') && purchase.isRecurring) {
    const { nextBillingDate: renewsAt } = purchase
    const noticed = endAfterNotice(purchase, now)
    if (noticed !== undefined && renewsAt !== null && noticed > renewsAt) {
      return { kind: 'schedule', endDate: noticed, renewsAt }
    }
    const endDate = paidUntil(purchase, now)
    if (endDate !== undefined && endDate > now) return { kind: 'schedule', endDate, renewsAt: null }
  }
  return canMove(purchase, 'cancelled') ? { kind: 'end-now' } : { kind: 'refuse' }
}

/**
 * Returns the end of the last paid period. It is in the past while a renewal is due. For a trial it is the trial's end. A free
 * purchase counts as paid for its current period. Undefined if the purchase has no periods.
 */
function paidUntil(purchase: Purchase, now: Date): Date | undefined {
  const { status, endDate, nextBillingDate } = purchase
  if (status === 'trialing') return nextBillingDate ?? undefined
  if (endDate !== null) return endDate
  const cycle = cycleOf(purchase)
  if (cycle === undefined) return undefined
  if (isCharged(purchase) && nextBillingDate !== null) return nextBillingDate
  return periodAt(cycle, now).end
}

/** Returns whether the purchase has a price. A purchase that began with a trial has an amount of 0, so the plan's prices decide. */
function isCharged({ amountMinor, planSnapshot }: Purchase): boolean {
  if (amountMinor > 0 || planSnapshot === null) return amountMinor > 0
  return planSnapshot.priceMinor > 0 || (planSnapshot.basePriceMinor ?? 0) > 0
}
