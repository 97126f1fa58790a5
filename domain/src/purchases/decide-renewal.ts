import { periodAt, type Period } from '../periods/periods.ts'
import { cycleOf } from './access.ts'
import { changesOnlyAddOns, changeWithoutPlan } from './carry-add-ons.ts'
import { pricesAt } from './offered-plan.ts'
import type { Purchase } from './repository.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { canMove, isEnding } from './transitions.ts'

export type DueRenewal =
  /** The renewal is not due, or no longer needed. */
  | { readonly kind: 'nothing' }
  /** The period costs nothing in advance. */
  | { readonly kind: 'renew'; readonly period: Period }
  /** The period begins with a plan that the customer chose before. */
  | { readonly kind: 'change'; readonly period: Period; readonly plan: PlanSnapshot }
  /** The period begins when it is paid. */
  | { readonly kind: 'charge'; readonly period: Period; readonly isFirstCharge: boolean }

export type RenewalDecision =
  | DueRenewal
  /** The usage of the period before must be billed first, or on the same invoice. */
  | { readonly kind: 'wait' }

/** Decides what happens on a due billing date. The result covers one period, even if several have passed since. */
export function decideDueRenewal(purchase: Purchase, now: Date): DueRenewal {
  const { status, planSnapshot, nextBillingDate, autoRenew } = purchase
  const cycle = cycleOf(purchase)
  // A past due purchase waits for its invoice, which has its own retries.
  if (status !== 'active' || !autoRenew || !canMove(purchase, 'renewed')) return { kind: 'nothing' }
  if (planSnapshot === null || cycle === undefined) return { kind: 'nothing' }
  if (nextBillingDate === null || nextBillingDate > now) return { kind: 'nothing' }
  const period = periodAt(cycle, nextBillingDate)
  const plan = scheduledPlanFor(purchase, period.start)
  if (plan !== undefined) return { kind: 'change', period, plan }
  // The period is the first one only if the purchase itself started with a renewal.
  const isFirstCharge = period.start.getTime() === purchase.startDate.getTime()
  const prices = pricesAt(purchase, period.start)
  const isFeeDue = isFirstCharge && prices !== undefined && prices.setupFeeMinor > 0n
  return prices === undefined || prices.priceMinor > 0n || isFeeDue
    ? { kind: 'charge', period, isFirstCharge }
    : { kind: 'renew', period }
}

/**
 * Returns the plan to which the purchase changes with the period that starts at `start`. Undefined if the purchase renews with its
 * own plan. A purchase that was cancelled too late for its notice keeps its plan, and has the add-ons that were chosen for the period.
 */
export function scheduledPlanFor(purchase: Purchase, start: Date): PlanSnapshot | undefined {
  const { scheduledPlan, scheduledPlanAt } = purchase
  if (scheduledPlan === null) return undefined
  if (isEnding(purchase) && !changesOnlyAddOns(purchase)) return changeWithoutPlan(purchase)?.plan
  return scheduledPlanAt === null || scheduledPlanAt <= start ? scheduledPlan : undefined
}

/**
 * Returns whether the purchase renews at `date`, and that date as its next billing date. The date is null if the purchase does not
 * renew, or ends at `date` or before.
 */
export function renewalAfter(
  { autoRenew, endDate }: Pick<Purchase, 'autoRenew' | 'endDate'>,
  date: Date,
): Pick<Purchase, 'autoRenew' | 'nextBillingDate'> {
  const renewsAgain = autoRenew && (endDate === null || date < endDate)
  return { autoRenew: renewsAgain, nextBillingDate: renewsAgain ? date : null }
}

/** Decides a renewal for callers that charge only the price of the next period. */
export function decideRenewal(purchase: Purchase, now: Date): RenewalDecision {
  const renewal = decideDueRenewal(purchase, now)
  if (renewal.kind !== 'charge' || !mustBillUsageFirst(purchase, renewal.period)) return renewal
  return { kind: 'wait' }
}

/**
 * Returns whether usage must be billed first. The strategies `usage_first` and `combined` bill the usage of the period before, and
 * it is not billed yet.
 */
export function mustBillUsageFirst(
  { planSnapshot, nextUsageBillAt }: Purchase,
  { start }: Period,
): boolean {
  const strategy = planSnapshot?.terms.billingStrategy ?? 'recurring_first'
  if (strategy === 'recurring_first' || planSnapshot?.type !== 'hybrid') return false
  return nextUsageBillAt !== null && nextUsageBillAt <= start
}
