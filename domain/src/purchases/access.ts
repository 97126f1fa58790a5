import type { BillingCycle } from '@tollgate/schemas/http/plan-terms'
import { periodIndexAt, type Cycle } from '../periods/periods.ts'
import { statusesWithAccess, type Purchase } from './repository.ts'
import { isCreditBased } from '../plans/plan.ts'

type AccessFacts = Pick<Purchase, 'status' | 'endDate'>

/** Returns whether the status gives access, whatever the end date. */
export function hasStatusWithAccess(purchase: Pick<Purchase, 'status'>): boolean {
  return statusesWithAccess.some((status) => status === purchase.status)
}

/** Returns whether the purchase gives access at that instant. */
export function givesAccess(purchase: AccessFacts, now: Date): boolean {
  return hasStatusWithAccess(purchase) && !hasEnded(purchase, now)
}

/** Returns whether the end date has passed but the status has not been changed yet. Such a purchase gives no access. */
export function isLapsed(purchase: AccessFacts, now: Date): boolean {
  return hasStatusWithAccess(purchase) && hasEnded(purchase, now)
}

function hasEnded({ endDate }: AccessFacts, now: Date): boolean {
  return endDate !== null && endDate.getTime() <= now.getTime()
}

/** Fields that determine where the periods of a purchase begin. */
export type CyclingPurchase = Pick<
  Purchase,
  'anchor' | 'billingCycle' | 'cycleMode' | 'planSnapshot'
>

/** Returns the cycle of the purchase's periods. Undefined if the purchase has one period for its whole duration. */
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
 * Returns whether an ended purchase blocks a new free purchase of the same plan. It does if it ended in the current period, because
 * a new purchase would give the free usage of that period twice.
 */
export function blocksFreePlan(purchase: Purchase, planRef: string, now: Date): boolean {
  if (purchase.planRef !== planRef) return false
  const cycle = cycleOf(purchase)
  if (cycle === undefined) return true
  const endedAt = purchase.endedAt ?? purchase.endDate ?? purchase.updatedAt
  // A purchase that ends with a period does not reach into the next one, so the instant of the end is excluded.
  const lastMs = Math.max(purchase.anchor.getTime(), endedAt.getTime() - 1)
  return periodIndexAt(cycle, new Date(lastMs)) === periodIndexAt(cycle, now)
}

/**
 * Returns whether another payment for the plan would buy nothing. A trial and a past due purchase can be paid, a plan that does not
 * renew can be bought again, and a credit plan accepts more credits.
 */
export function isPaidFor({ status, planSnapshot }: Purchase): boolean {
  if (planSnapshot === null || status !== 'active') return false
  return planSnapshot.type !== 'one-time' && !isCreditBased(planSnapshot)
}
