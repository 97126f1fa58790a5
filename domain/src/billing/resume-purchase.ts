import { periodAt } from '../periods/periods.ts'
import { cycleOf, hasStatusWithAccess } from '../purchases/access.ts'
import { endNow, movePurchase } from '../purchases/move-purchase.ts'
import { findDecidingPurchase, type Purchase } from '../purchases/repository.ts'
import type { PurchaseTrigger } from '../purchases/transitions.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'

export const noFailures = { retryCount: 0, nextRetryAt: null }

/**
 * Makes a suspended or past due purchase active again without starting a period. A purchase whose end date has passed
 * in the meantime ends instead. The caller has locked the purchase.
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
  const nextBillingDate = resumedBillingDate(purchase, work.now)
  await movePurchase(work, purchase, trigger, { ...noFailures, nextBillingDate })
}

/**
 * Ends the other open purchase of the product that the customer received while this purchase was suspended. A customer
 * has at most one open purchase of a product.
 */
export async function endSubstitute(work: UnitOfWork, purchase: Purchase): Promise<void> {
  const { customerRef, productRef, reference } = purchase
  const other = await findDecidingPurchase(work.sql, work.providerId, customerRef, productRef)
  if (other !== undefined && other.reference !== reference && hasStatusWithAccess(other)) {
    await endNow(work, other, 'expired')
  }
}

/**
 * Returns the next billing date of a purchase that resumes. Periods that passed during a suspension are skipped, and
 * the current period is due next.
 */
function resumedBillingDate(purchase: Purchase, now: Date): Date | null {
  const { status, nextBillingDate } = purchase
  const cycle = cycleOf(purchase)
  if (status !== 'suspended' || cycle === undefined || nextBillingDate === null) {
    return nextBillingDate
  }
  const hasPassed = periodAt(cycle, nextBillingDate).end <= now
  return hasPassed ? periodAt(cycle, now).start : nextBillingDate
}
