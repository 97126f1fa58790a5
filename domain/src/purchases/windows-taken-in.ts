import type { WindowMove } from '@tollgate/platform/hot-state/taken-in'
import { purchasePeriodAt, purchaseWindowOf } from '../entitlements/compile-entitlement.ts'
import type { Purchase } from './repository.ts'

/**
 * Returns the windows that the restored purchase includes, with those it included before. Usage of the refunded purchases counts in
 * the period in which it is active again. Under windows of their own they would have started a full allowance that is no longer
 * paid.
 */
export function addWindowsTakenIn(
  restored: Purchase,
  undone: readonly Purchase[],
  now: Date,
): readonly WindowMove[] {
  const { planSnapshot, windowsTakenIn: before } = restored
  if (planSnapshot === null) return before
  const into = purchaseWindowOf(restored, purchasePeriodAt(restored, planSnapshot, now))
  const known = new Set([into, ...before.map(({ window }) => window)])
  // The windows that a refunded purchase includes may not have been published yet.
  const windows = undone.flatMap((purchase) => [
    ...purchase.windowsTakenIn.map(({ window }) => window),
    ...windowsBegunUntil(purchase, now),
  ])
  const added = new Set(windows.filter((window) => !known.has(window)))
  return [...before, ...[...added].map((window) => ({ window, into }))]
}

/** Returns the windows of all periods that the purchase has begun. */
function windowsBegunUntil(purchase: Purchase, now: Date): string[] {
  const { planSnapshot, startDate, endedAt } = purchase
  if (planSnapshot === null) return []
  const end = endedAt ?? now
  const windows: string[] = []
  for (let at = startDate; ;) {
    const period = purchasePeriodAt(purchase, planSnapshot, at)
    windows.push(purchaseWindowOf(purchase, period))
    if (period.end >= end) return windows
    at = period.end
  }
}
