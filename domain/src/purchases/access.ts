import type { BillingCycle } from '@tollgate/schemas/http/plan-terms'
import { periodIndexAt, type Cycle } from '../periods/periods.ts'
import { statusesWithAccess, type Purchase } from './repository.ts'

/** Whether the purchase lets its customer in at that instant. */
export function givesAccess(purchase: Purchase, now: Date): boolean {
  const hasAccess = statusesWithAccess.some((status) => status === purchase.status)
  return hasAccess && (purchase.endDate === null || now.getTime() < purchase.endDate.getTime())
}

/** How the purchase's periods follow each other; undefined: it has one period for as long as it lasts. */
export function cycleOf(purchase: Purchase): Cycle | undefined {
  const billingCycle = purchase.billingCycle as BillingCycle | null
  if (billingCycle === null) return undefined
  return {
    anchor: purchase.anchor,
    billingCycle,
    mode: purchase.cycleMode,
    customDays: purchase.planSnapshot?.terms.billingCycleDays,
  }
}

/**
 * Whether an ended purchase still stands in the way of a new free one of the same plan: it ended in the period that
 * runs now, and a fresh purchase would hand out that period's free usage twice.
 */
export function blocksFreePlan(purchase: Purchase, planRef: string, now: Date): boolean {
  if (purchase.planRef !== planRef) return false
  const cycle = cycleOf(purchase)
  if (cycle === undefined) return true
  const endedAt = purchase.endedAt ?? purchase.endDate ?? purchase.updatedAt
  return periodIndexAt(cycle, endedAt) === periodIndexAt(cycle, now)
}
