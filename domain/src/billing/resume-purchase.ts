import { periodAt } from '../periods/periods.ts'
import { cycleOf, isOpen } from '../purchases/access.ts'
import { endNow, movePurchase } from '../purchases/move-purchase.ts'
import { findDecidingPurchase, type Purchase } from '../purchases/repository.ts'
import type { PurchaseTrigger } from '../purchases/transitions.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'

export const noFailures = { retryCount: 0, nextRetryAt: null }

/**
 * Has a purchase go on that stood still, or was behind with its payments, and begins no period. One whose end has passed
 * meanwhile ends. The caller has locked it.
 */
export async function resumePurchase(
  work: UnitOfWork,
  purchase: Purchase,
  trigger: Extract<PurchaseTrigger, 'debt-paid' | 'paid' | 'dispute-won'>,
): Promise<void> {
  const { endDate } = purchase
  if (purchase.status === 'suspended') {
    if (endDate !== null && endDate <= work.now) {
      await endNow(work, purchase, 'expired', { endedAt: endDate })
      return
    }
    await endSubstitute(work, purchase)
  }
  const nextBillingDate = dueDate(purchase, work.now)
  await movePurchase(work, purchase, trigger, { ...noFailures, nextBillingDate })
}

/** What the customer was given of the product while this stood still; it has one purchase of it at a time. */
export async function endSubstitute(work: UnitOfWork, purchase: Purchase): Promise<void> {
  const { customerRef, productRef, reference } = purchase
  const other = await findDecidingPurchase(work.sql, work.providerId, customerRef, productRef)
  if (other !== undefined && other.reference !== reference && isOpen(other)) {
    await endNow(work, other, 'expired')
  }
}

/** Of one that goes on: the period that is under way now is due next, and none that went by while it was suspended. */
function dueDate(purchase: Purchase, now: Date): Date | null {
  const { status, nextBillingDate } = purchase
  const cycle = cycleOf(purchase)
  if (status !== 'suspended' || cycle === undefined || nextBillingDate === null) {
    return nextBillingDate
  }
  const hasGoneBy = periodAt(cycle, nextBillingDate).end <= now
  return hasGoneBy ? periodAt(cycle, now).start : nextBillingDate
}
