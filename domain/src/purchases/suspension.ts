import { usagePeriodAt } from '../periods/periods.ts'
import { cycleOf, isOpen, type CyclingPurchase } from './access.ts'
import type { Purchase } from './repository.ts'

type Suspension = Pick<Purchase, 'suspendedAt' | 'accessRestoredAt'>

export type SuspendablePurchase = CyclingPurchase &
  Suspension &
  Pick<Purchase, 'status' | 'startDate'>

/** What the purchase knows of its last time without access once it is in that status. */
export function suspensionAfter(
  purchase: SuspendablePurchase,
  status: Purchase['status'],
  now: Date,
): Suspension {
  const { anchor, suspendedAt, accessRestoredAt } = purchase
  const wasSuspended = purchase.status === 'suspended'
  if (wasSuspended && isOpen({ status })) return { suspendedAt, accessRestoredAt: now }
  if (wasSuspended || status !== 'suspended') return { suspendedAt, accessRestoredAt }
  // Twice in one period is one time without access: what the period was left stays decided by the first one.
  const goesOn = accessRestoredAt !== null && periodStart(purchase, now) <= accessRestoredAt
  return { suspendedAt: goesOn ? (suspendedAt ?? anchor) : now, accessRestoredAt: null }
}

/** Whether the purchase had no access when it ended, because it was suspended. */
export function endedSuspended({ suspendedAt, accessRestoredAt }: Suspension): boolean {
  return suspendedAt !== null && accessRestoredAt === null
}

/** Without a cycle there is one period. */
function periodStart(purchase: SuspendablePurchase, now: Date): Date {
  const cycle = cycleOf(purchase)
  return cycle === undefined ? purchase.anchor : usagePeriodAt(cycle, purchase.startDate, now).start
}
