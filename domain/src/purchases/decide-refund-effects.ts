import { periodAt } from '../periods/periods.ts'
import { cycleOf, givesAccess, hasStatusWithAccess } from './access.ts'
import type { PurchaseChange } from './move-purchase.ts'
import type { ChangeHistory } from './plan-change-history.ts'
import { dependentsOf, paymentSourcesOf, replacedBy } from './plan-changes.ts'
import type { Purchase } from './repository.ts'

/** Effects of a full refund of a purchase on the customer's other purchases of the product. */
type RefundEffects = {
  /** Purchases that continued its period and were charged only the difference. Oldest first. */
  readonly dependents: readonly Purchase[]
  /** Purchases of `dependents` that end. Free purchases continue without money. */
  readonly ended: readonly Purchase[]
  /** The purchase that becomes active again for the rest of its period; undefined if none is paid for. */
  readonly restored: Purchase | undefined
}

/**
 * Decides which purchases end and which one is restored. Access follows the money that remains. Purchases that depended on the
 * refunded money end. The purchase before the refunded one becomes active again if its own payments are not refunded, its period is
 * not over, and no other purchase gives access.
 */
export function decideRefundEffects(
  history: ChangeHistory,
  refunded: Purchase,
  isPaid: (purchase: Purchase) => boolean,
  now: Date,
): RefundEffects {
  const { purchases, ownPeriods } = history
  const dependents = dependentsOf(purchases, refunded, ownPeriods)
  const ended = dependents.filter(({ originalAmountMinor }) => (originalAmountMinor ?? 0) > 0)
  const undone = [refunded, ...ended]
  const hadAccess = undone.some((purchase) => givesAccess(purchase, now))
  const hasOtherAccess = purchases.some(
    (each) =>
      hasStatusWithAccess(each) && !undone.some(({ reference }) => reference === each.reference),
  )
  const before = replacedBy(purchases, refunded)
  const canRestore =
    hadAccess &&
    !hasOtherAccess &&
    before !== undefined &&
    isRestorable(before, now) &&
    paymentSourcesOf(purchases, before, ownPeriods).every(isPaid)
  return { dependents, ended, restored: canRestore ? before : undefined }
}

/**
 * Returns whether only the change of plan ended the purchase, after its trial, and its period at that time is still the current
 * one.
 */
function isRestorable(before: Purchase, now: Date): boolean {
  const { status, endedAt, startDate, anchor, endDate } = before
  if (status !== 'expired' || endedAt === null) return false
  const isWithinTrial = startDate < anchor && endedAt <= anchor
  if (isWithinTrial || (endDate !== null && endDate <= now)) return false
  const cycle = cycleOf(before)
  if (cycle === undefined) return true
  // A purchase that ended with a period was not paid for the next one.
  const last = new Date(Math.max(anchor.getTime(), endedAt.getTime() - 1))
  return periodAt(cycle, last).end > now
}

/** Returns the dates of a restored purchase. A purchase that was to end with its period, or does not renew, still ends then. */
export function restoredDates(before: Purchase): PurchaseChange {
  const { endDate, endedAt } = before
  const cycle = cycleOf(before)
  const renewsAt =
    endDate !== null || cycle === undefined || endedAt === null
      ? null
      : periodAt(cycle, endedAt).end
  return {
    autoRenew: renewsAt !== null,
    nextBillingDate: renewsAt,
    nextRetryAt: null,
    endedAt: null,
  }
}
