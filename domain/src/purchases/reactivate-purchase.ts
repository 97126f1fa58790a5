import { periodOf } from '../periods/periods.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { cycleOf, isLapsed } from './access.ts'
import { movePurchase } from './move-purchase.ts'
import { lockPurchase, type Purchase } from './repository.ts'
import { canMove } from './transitions.ts'

/** Why a purchase cannot be reactivated, as the API distinguishes it. */
export type ReactivateRefusal =
  'fully-cancelled' | 'ended' | 'not-pending-cancellation' | 'other-status'

export type ReactivateOutcome =
  | { readonly kind: 'reactivated'; readonly purchase: Purchase }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'refused'; readonly purchase: Purchase; readonly reason: ReactivateRefusal }

/** Withdraws a cancellation before it takes effect. */
export async function reactivatePurchase(
  work: UnitOfWork,
  reference: string,
): Promise<ReactivateOutcome> {
  const purchase = await lockPurchase(work.sql, work.providerId, reference)
  if (purchase === undefined) return { kind: 'not-found' }
  const reason = reactivateRefusalOf(purchase, work.now)
  if (reason !== undefined) return { kind: 'refused', purchase, reason }
  const moved = await movePurchase(work, purchase, 'reactivated', {
    cancelledAt: null,
    cancellationReason: null,
    ...datesBeforeCancel(purchase),
  })
  return { kind: 'reactivated', purchase: moved }
}

/**
 * Returns the dates that the purchase had before its cancellation, which had set its end to the next billing date. A purchase that
 * does not renew still ends: a trial ends after the one period that follows it.
 */
export function datesBeforeCancel(
  purchase: Purchase,
): Pick<Purchase, 'autoRenew' | 'nextBillingDate' | 'endDate'> {
  const { endDate, planSnapshot, status } = purchase
  const autoRenew = planSnapshot?.terms.autoRenew ?? true
  // A purchase cancelled too late for its notice still has its billing date.
  const nextBillingDate = purchase.nextBillingDate ?? endDate
  if (autoRenew) return { autoRenew, nextBillingDate, endDate: null }
  const cycle = cycleOf(purchase)
  if (status !== 'trialing' || cycle === undefined) {
    return { autoRenew, nextBillingDate: null, endDate }
  }
  return { autoRenew, nextBillingDate: endDate, endDate: periodOf(cycle, 0).end }
}

export function reactivateRefusalOf(purchase: Purchase, now: Date): ReactivateRefusal | undefined {
  if (purchase.status === 'cancelled') return 'fully-cancelled'
  if (purchase.status === 'expired' || isLapsed(purchase, now)) return 'ended'
  if (canMove(purchase, 'reactivated')) return undefined
  const isOpen = purchase.status === 'active' || purchase.status === 'trialing'
  return isOpen ? 'not-pending-cancellation' : 'other-status'
}
