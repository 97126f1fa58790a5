import type { WindowMove } from '@tollgate/platform/hot-state/taken-in'
import { purchasePeriodAt, purchaseWindowOf } from '../entitlements/compile-entitlement.ts'
import type { Purchase } from './repository.ts'

/**
 * Returns what the restored purchase takes in, with what it did before. Usage of the undone purchases counts in the period
 * that it is active in again: under a window of their own they would have started a full allowance that is not paid any more.
 */
export function windowsTakenIn(
  restored: Purchase,
  undone: readonly Purchase[],
  now: Date,
): readonly WindowMove[] {
  const { planSnapshot, windowsTakenIn: before } = restored
  if (planSnapshot === null) return before
  const into = purchaseWindowOf(restored, purchasePeriodAt(restored, planSnapshot, now))
  const known = new Set([into, ...before.map(({ window }) => window)])
  // What an undone purchase takes in itself may not have been published yet.
  const windows = undone.flatMap((purchase) => [
    ...purchase.windowsTakenIn.map(({ window }) => window),
    ...windowsUntil(purchase, now),
  ])
  const added = new Set(windows.filter((window) => !known.has(window)))
  return [...before, ...[...added].map((window) => ({ window, into }))]
}

/** Returns the windows of all periods that the purchase has begun. */
function windowsUntil(purchase: Purchase, now: Date): string[] {
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
