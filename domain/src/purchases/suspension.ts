import { usagePeriodAt } from '../periods/periods.ts'
import { cycleOf, hasStatusWithAccess, type CyclingPurchase } from './access.ts'
import type { Purchase } from './repository.ts'

type Suspension = Pick<Purchase, 'suspendedAt' | 'accessRestoredAt'>

export type SuspendablePurchase = CyclingPurchase &
  Suspension &
  Pick<Purchase, 'status' | 'startDate'>

/** Returns the suspension dates of the purchase once it is in that status. */
export function suspensionAfter(
  purchase: SuspendablePurchase,
  status: Purchase['status'],
  now: Date,
): Suspension {
  const { anchor, suspendedAt, accessRestoredAt } = purchase
  const wasSuspended = purchase.status === 'suspended'
  if (wasSuspended && hasStatusWithAccess({ status })) return { suspendedAt, accessRestoredAt: now }
  if (wasSuspended || status !== 'suspended') return { suspendedAt, accessRestoredAt }
  // Two suspensions in one period count as one. The first one decides how many units the period was left.
  const isSamePeriod = accessRestoredAt !== null && periodStart(purchase, now) <= accessRestoredAt
  return { suspendedAt: isSamePeriod ? (suspendedAt ?? anchor) : now, accessRestoredAt: null }
}

/** Returns whether the purchase was suspended, and so without access, when it ended. */
export function endedSuspended({ suspendedAt, accessRestoredAt }: Suspension): boolean {
  return suspendedAt !== null && accessRestoredAt === null
}

/** A purchase without a cycle has one period. */
function periodStart(purchase: SuspendablePurchase, now: Date): Date {
  const cycle = cycleOf(purchase)
  return cycle === undefined ? purchase.anchor : usagePeriodAt(cycle, purchase.startDate, now).start
}
