import { periodAt } from '../periods/periods.ts'
import { cycleOf, givesAccess, isOpen } from './access.ts'
import type { PurchaseChange } from './move-purchase.ts'
import type { ChangeHistory } from './plan-change-history.ts'
import { carriedBy, carriersOf, replacedBy } from './plan-changes.ts'
import type { Purchase } from './repository.ts'

/** What a full refund of a purchase's money means for the customer's other purchases of the product. */
type Undo = {
  /** What went on with its period, and was charged the difference to it. Oldest first. */
  readonly carried: readonly Purchase[]
  /** Those of them that end: what costs nothing needs no money to go on. */
  readonly ended: readonly Purchase[]
  /** Active again for the rest of its period; undefined: there is none that is paid for. */
  readonly restored: Purchase | undefined
}

/**
 * Access follows the money that remains. What the refunded money carried ends. The purchase that it replaced is active
 * again if its own money is all there, its period is not over, and nothing else gives access.
 */
export function decideUndo(
  history: ChangeHistory,
  refunded: Purchase,
  isPaid: (purchase: Purchase) => boolean,
  now: Date,
): Undo {
  const { purchases, ownPeriods } = history
  const carried = carriedBy(purchases, refunded, ownPeriods)
  const ended = carried.filter(({ originalAmountMinor }) => (originalAmountMinor ?? 0) > 0)
  const undone = [refunded, ...ended]
  const hadAccess = undone.some((purchase) => givesAccess(purchase, now))
  const isHeldOtherwise = purchases.some(
    (each) => isOpen(each) && !undone.some(({ reference }) => reference === each.reference),
  )
  const before = replacedBy(purchases, refunded)
  const canGoOn =
    hadAccess &&
    !isHeldOtherwise &&
    before !== undefined &&
    isRestorable(before, now) &&
    carriersOf(purchases, before, ownPeriods).every(isPaid)
  return { carried, ended, restored: canGoOn ? before : undefined }
}

/** It was ended by the change alone, had left its trial, and the period that it was in runs now. */
function isRestorable(before: Purchase, now: Date): boolean {
  const { status, endedAt, anchor, endDate } = before
  if (status !== 'expired' || endedAt === null || anchor > endedAt) return false
  if (endDate !== null && endDate <= now) return false
  const cycle = cycleOf(before)
  return cycle === undefined || periodAt(cycle, endedAt).end > now
}

/** The dates of a purchase that is active again. One that was to end with its period, or does not renew, still ends then. */
export function datesOfRestored(before: Purchase): PurchaseChange {
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
