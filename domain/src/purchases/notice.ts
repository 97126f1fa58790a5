import { daysAbout, periodAt } from '../periods/periods.ts'
import { pricesIn } from '../pricing/plan-prices.ts'
import { cycleOf } from './access.ts'
import { planAfterChange, pricesAt } from './offered-plan.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import type { Purchase } from './repository.ts'
import { isEnding } from './transitions.ts'

const dayMs = 86_400_000

/**
 * Returns the end of the first period that ends after the plan's notice, if the customer cancels now or cancelled before. Undefined
 * if the plan has no notice, for trials, and for purchases that do not renew, because they have no next period to charge.
 */
export function endAfterNotice(purchase: Purchase, now: Date): Date | undefined {
  const { status, autoRenew, endDate, nextBillingDate } = purchase
  const days = noticeDaysOf(purchase)
  const cycle = cycleOf(purchase)
  if (days === 0 || cycle === undefined || status !== 'active') return undefined
  if (isEnding(purchase)) return endDate ?? undefined
  if (!autoRenew || nextBillingDate === null) return undefined
  const given = endOfGivenNotice(purchase, now)
  if (given !== undefined) return given
  const soonest = now.getTime() + days * dayMs
  let end = nextBillingDate
  while (end.getTime() < soonest) end = periodAt(cycle, end).end
  return end
}

/**
 * Returns when the purchase can be left for the plan. Undefined if it can be left at once. A cheaper plan starts when a
 * cancellation would end the purchase. Otherwise a change to a free plan would avoid the charge that the notice secures.
 */
export function boundByNoticeUntil(
  purchase: Purchase,
  plan: PlanSnapshot,
  now: Date,
): Date | undefined {
  if (plan.reference === purchase.planRef || !isCheaper(plan, purchase, now)) return undefined
  return endAfterNotice(purchase, now)
}

export function noticeDaysOf({ planSnapshot }: Pick<Purchase, 'planSnapshot'>): number {
  return planSnapshot?.type === 'recurring' ? (planSnapshot.terms.cancellationNoticeDays ?? 0) : 0
}

/** A change to a cheaper plan that waits for a renewal counts as a notice that was already given, unless the provider scheduled it. */
function endOfGivenNotice(purchase: Purchase, now: Date): Date | undefined {
  const { scheduledPlan, scheduledPlanAt, nextBillingDate } = purchase
  if (purchase.isScheduledByProvider === true) return undefined
  const at = scheduledPlanAt ?? nextBillingDate
  if (scheduledPlan === null || at === null) return undefined
  const plan = planAfterChange(scheduledPlan, purchase, at)
  return isCheaper(plan, purchase, now) ? at : undefined
}

/**
 * Returns whether the plan costs less than the plan of the purchase, or costs the same with a shorter notice. Prices are compared
 * in the currency of the purchase, as they are now. If the plan has no price in it, only a free plan counts as cheaper.
 */
function isCheaper(plan: PlanSnapshot, purchase: Purchase, now: Date): boolean {
  const { planSnapshot: held, currency } = purchase
  const before = pricesAt(purchase, now)
  if (held === null || before === undefined) return false
  const after = pricesIn(plan, currency)
  if (after === undefined) {
    return before.priceMinor > 0n && pricesIn(plan, plan.currency)?.priceMinor === 0n
  }
  const { heldDays, days } = daysToCompare(held, plan)
  const costsBefore = before.priceMinor * days
  const costsAfter = after.priceMinor * heldDays
  const hasShorterNotice = noticeDaysOf({ planSnapshot: plan }) < noticeDaysOf(purchase)
  return costsAfter < costsBefore || (costsAfter === costsBefore && hasShorterNotice)
}

/** Returns the number of days that each price pays for. Both are 1 if one of the plans has no periods. */
function daysToCompare(held: PlanSnapshot, plan: PlanSnapshot): { heldDays: bigint; days: bigint } {
  const [heldDays, days] = [held, plan].map(({ terms: { billingCycle, billingCycleDays } }) =>
    billingCycle === undefined
      ? undefined
      : BigInt(daysAbout({ billingCycle, customDays: billingCycleDays })),
  )
  return heldDays === undefined || days === undefined
    ? { heldDays: 1n, days: 1n }
    : { heldDays, days }
}
