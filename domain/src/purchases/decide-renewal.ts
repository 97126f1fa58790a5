import { periodAt, type Period } from '../periods/periods.ts'
import { pricesIn } from '../pricing/plan-prices.ts'
import { cycleOf } from './access.ts'
import type { Purchase } from './repository.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { canMove, isEnding } from './transitions.ts'

export type DueRenewal =
  /** Not due, or not any more. */
  | { readonly kind: 'nothing' }
  /** Costs nothing beforehand. */
  | { readonly kind: 'renew'; readonly period: Period }
  /** Is one of the plan that the customer chose for it. */
  | { readonly kind: 'change'; readonly period: Period; readonly plan: PlanSnapshot }
  /** Begins when it is paid. */
  | { readonly kind: 'charge'; readonly period: Period; readonly isFirstCharge: boolean }

export type RenewalDecision =
  | DueRenewal
  /** Its price is charged after the usage of the period before, or together with it. */
  | { readonly kind: 'wait' }

/** What the billing date of a purchase brings: one period, also where several have passed since. */
export function dueRenewal(purchase: Purchase, now: Date): DueRenewal {
  const { status, planSnapshot, nextBillingDate, autoRenew } = purchase
  const cycle = cycleOf(purchase)
  // One that is past due waits for its invoice, which is charged again by itself.
  if (status !== 'active' || !autoRenew || !canMove(purchase, 'renewed')) return { kind: 'nothing' }
  if (planSnapshot === null || cycle === undefined) return { kind: 'nothing' }
  if (nextBillingDate === null || nextBillingDate > now) return { kind: 'nothing' }
  const period = periodAt(cycle, nextBillingDate)
  const plan = scheduledPlanFor(purchase, period.start)
  if (plan !== undefined) return { kind: 'change', period, plan }
  // Only a purchase that started with a renewal is due for the period that it started with.
  const isFirstCharge = period.start.getTime() === purchase.startDate.getTime()
  const prices = pricesIn(planSnapshot, purchase.currency)
  const isFeeDue = isFirstCharge && prices !== undefined && prices.setupFeeMinor > 0n
  return prices === undefined || prices.priceMinor > 0n || isFeeDue
    ? { kind: 'charge', period, isFirstCharge }
    : { kind: 'renew', period }
}

/** Returns the plan that the purchase changes to with the period that starts then; undefined: it renews with its own. */
export function scheduledPlanFor(purchase: Purchase, start: Date): PlanSnapshot | undefined {
  const { scheduledPlan, scheduledPlanAt } = purchase
  if (scheduledPlan === null || isEnding(purchase)) return undefined
  return scheduledPlanAt === null || scheduledPlanAt <= start ? scheduledPlan : undefined
}

/** When the period after that one is due; null: the purchase does not renew, or ends with it. */
export function nextAfter(
  { autoRenew, endDate }: Pick<Purchase, 'autoRenew' | 'endDate'>,
  date: Date,
): Pick<Purchase, 'autoRenew' | 'nextBillingDate'> {
  const goesOn = autoRenew && (endDate === null || date < endDate)
  return { autoRenew: goesOn, nextBillingDate: goesOn ? date : null }
}

/** The same for whoever charges nothing but the price of the next period. */
export function decideRenewal(purchase: Purchase, now: Date): RenewalDecision {
  const renewal = dueRenewal(purchase, now)
  if (renewal.kind !== 'charge' || !isUsageFirst(purchase, renewal.period)) return renewal
  return { kind: 'wait' }
}

/** Usage is billed before it by `usage_first`, or together with it by `combined`, and there is some that is not. */
function isUsageFirst({ planSnapshot, nextUsageBillAt }: Purchase, { start }: Period): boolean {
  const strategy = planSnapshot?.terms.billingStrategy ?? 'recurring_first'
  if (strategy === 'recurring_first' || planSnapshot?.type !== 'hybrid') return false
  return nextUsageBillAt !== null && nextUsageBillAt <= start
}
