import type { BillingCycle } from '@tollgate/schemas/http/plan-terms'
import { periodIndexAt, type Cycle } from '../periods/periods.ts'
import { statusesWithAccess, type Purchase } from './repository.ts'

type AccessFacts = Pick<Purchase, 'status' | 'endDate'>

/** Whether its status is one that gives access, whatever its end. */
export function isOpen(purchase: Pick<Purchase, 'status'>): boolean {
  return statusesWithAccess.some((status) => status === purchase.status)
}

/** Whether the purchase lets its customer in at that instant. */
export function givesAccess(purchase: AccessFacts, now: Date): boolean {
  return isOpen(purchase) && !hasEnded(purchase, now)
}

/** Whether its end has passed and nobody has said so yet: it gives no access, but its status still looks as if. */
export function isLapsed(purchase: AccessFacts, now: Date): boolean {
  return isOpen(purchase) && hasEnded(purchase, now)
}

function hasEnded({ endDate }: AccessFacts, now: Date): boolean {
  return endDate !== null && endDate.getTime() <= now.getTime()
}

/** What of a purchase decides where its periods begin. */
export type CyclingPurchase = Pick<
  Purchase,
  'anchor' | 'billingCycle' | 'cycleMode' | 'planSnapshot'
>

/** How the purchase's periods follow each other; undefined: it has one period for as long as it lasts. */
export function cycleOf(purchase: CyclingPurchase): Cycle | undefined {
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
  // The end itself is no part of it: what ends with a period does not reach into the next one.
  const lastMs = Math.max(purchase.anchor.getTime(), endedAt.getTime() - 1)
  return periodIndexAt(cycle, new Date(lastMs)) === periodIndexAt(cycle, now)
}
