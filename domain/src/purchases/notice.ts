import { priceStepsAhead } from '../overrides/price-steps.ts'
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
  const end = endOfNotice(purchase, now)
  if (end === undefined || isEnding(purchase)) return end
  return endOfGivenNotice(purchase, now) ?? end
}

/** Returns the end after a notice that is given now, whether or not a scheduled change counts as a notice. */
function endOfNotice(purchase: Purchase, now: Date): Date | undefined {
  const { status, autoRenew, endDate, nextBillingDate } = purchase
  const days = noticeDaysOf(purchase)
  const cycle = cycleOf(purchase)
  if (days === 0 || cycle === undefined || status !== 'active') return undefined
  if (isEnding(purchase)) return endDate ?? undefined
  if (!autoRenew || nextBillingDate === null) return undefined
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
 * Returns whether the plan costs less, in some period, than the dearest one that the notice secures, or costs the same with a shorter
 * notice. Prices are compared in the currency of the purchase. If the plan has no price in it, only a free plan counts as cheaper.
 */
function isCheaper(plan: PlanSnapshot, purchase: Purchase, now: Date): boolean {
  const { planSnapshot: held } = purchase
  const beforeMinor = dearestUntilNotice(purchase, now)
  if (held === null || beforeMinor === undefined) return false
  const afterMinor = cheapestUntilNotice(plan, purchase, now)
  if (afterMinor === undefined) {
    return beforeMinor > 0n && pricesIn(plan, plan.currency)?.priceMinor === 0n
  }
  const { heldDays, days } = daysToCompare(held, plan)
  const costsBefore = beforeMinor * days
  const costsAfter = afterMinor * heldDays
  const hasShorterNotice = noticeDaysOf({ planSnapshot: plan }) < noticeDaysOf(purchase)
  return costsAfter < costsBefore || (costsAfter === costsBefore && hasShorterNotice)
}

/**
 * Returns the highest price of the running period and of those that the customer has to pay after a notice: with a ramp or an agreed
 * time, later ones can cost more. Undefined without a price in the currency of the purchase.
 */
function dearestUntilNotice(purchase: Purchase, now: Date): bigint | undefined {
  const cycle = cycleOf(purchase)
  const until = endOfNotice(purchase, now)
  const starts = [now]
  if (cycle !== undefined && until !== undefined) {
    let { end } = periodAt(cycle, now)
    for (; end < until; end = periodAt(cycle, end).end) starts.push(end)
  }
  const prices = starts.flatMap((start) => pricesAt(purchase, start)?.priceMinor ?? [])
  return prices.length === 0
    ? undefined
    : prices.reduce((most, price) => (price > most ? price : most))
}

/**
 * Returns the lowest price that the plan would have before the end of the notice: a ramp may begin with a price that falls. Undefined
 * without a price in the currency of the purchase.
 */
function cheapestUntilNotice(
  plan: PlanSnapshot,
  purchase: Purchase,
  now: Date,
): bigint | undefined {
  const { currency, cycleMode: mode, overrides = [] } = purchase
  const first = pricesIn(plan, currency)?.priceMinor
  const cycle = cycleOf(purchase)
  const until = endOfNotice(purchase, now)
  if (first === undefined || cycle === undefined || until === undefined) return first
  // A change continues the running period, so the second price can come with the next one.
  const begins = periodAt(cycle, now).start
  const later = priceStepsAhead(plan, overrides, { begins, mode })
    .filter(({ from }) => from < until)
    .flatMap((step) => pricesIn(step.plan, currency)?.priceMinor ?? [])
  return later.reduce((least, price) => (price < least ? price : least), first)
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
