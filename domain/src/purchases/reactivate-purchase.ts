import { periodOf } from '../periods/periods.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { cycleOf, isLapsed } from './access.ts'
import { movePurchase } from './move-purchase.ts'
import { lockPurchase, type Purchase } from './repository.ts'
import { canMove } from './transitions.ts'

/** Why a purchase cannot be reactivated; the states that clients tell apart. */
export type ReactivateRefusal =
  'fully-cancelled' | 'ended' | 'not-pending-cancellation' | 'other-status'

export type ReactivateOutcome =
  | { readonly kind: 'reactivated'; readonly purchase: Purchase }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'refused'; readonly purchase: Purchase; readonly reason: ReactivateRefusal }

/** Takes back a cancellation before it has come into force. */
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
 * A cancellation let the purchase end where the next period begins. What its plan does not renew ends all the same: of a
 * trial, after the one period that it is sold for.
 */
export function datesBeforeCancel(
  purchase: Purchase,
): Pick<Purchase, 'autoRenew' | 'nextBillingDate' | 'endDate'> {
  const { endDate, planSnapshot, status } = purchase
  const autoRenew = planSnapshot?.terms.autoRenew ?? true
  // Cancelled too late for the notice, it still has the date of the next period.
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
