import type { OverridesVersion } from '../overrides/overrides.ts'
import { planInPeriod } from '../overrides/overridden-plan.ts'
import { firstPeriodStart, offeredPlan, rampPeriodsBefore } from '../overrides/priced-plan.ts'
import { periodAt } from '../periods/periods.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { pricesIn, type PlanPrices } from '../pricing/plan-prices.ts'
import { cycleOf, givesAccess } from './access.ts'
import type { Purchase } from './purchase.ts'

/* The prices that a customer has: of a plan that starts, and of the periods of a purchase. */

/** What decides about the prices of a plan that a customer takes. */
export type OfferState = {
  /** The customer's purchase that decides about access to the product. */
  readonly last: Purchase | undefined
  /** The customer's latest purchase of the plan. */
  readonly lastOfPlan: Purchase | undefined
  /** The customer's overrides of the product, oldest first. Default: none. */
  readonly overrides?: readonly OverridesVersion[]
}

/**
 * Returns the plan with the prices at which the customer can take it now. Each customer has the first prices of a ramp once, as with a
 * trial: a customer who changes back to the plan within a period continues the ramp as if there had been no change.
 */
export function offerTo<Plan extends PlanSnapshot>(plan: Plan, state: OfferState, now: Date): Plan {
  const { last, lastOfPlan, overrides = [] } = state
  if (last === undefined || !givesAccess(last, now)) return offerOwnPeriod(plan, state, now)
  const begun = rampPeriodsBegun(lastOfPlan, now)
  // Periods in which the customer had another plan do not count.
  const continued = begun > 0 ? Math.min(begun, rampPeriodsOf(lastOfPlan, now)) : undefined
  return offeredPlan(plan, overrides, now, continued)
}

/**
 * Returns the plan with the prices of a period of its own that begins now. It is the first one that the customer has not begun yet, so
 * that a change or a cancellation never repeats a free period.
 */
export function offerOwnPeriod<Plan extends PlanSnapshot>(
  plan: Plan,
  { lastOfPlan, overrides = [] }: OfferState,
  now: Date,
): Plan {
  return offeredPlan(plan, overrides, now, rampPeriodsBegun(lastOfPlan, now) || undefined)
}

/** Returns how many periods of a ramp the purchase, and the customer's earlier ones of its plan, have begun. A trial is none. */
export function rampPeriodsBegun(purchase: Purchase | undefined, now: Date): number {
  if (purchase === undefined || purchase.planSnapshot === null) return 0
  const { endedAt, endDate, planSnapshot } = purchase
  const ends = [now, endedAt, endDate].flatMap((end) => (end === null ? [] : [end.getTime()]))
  const until = new Date(Math.min(...ends) - 1)
  if (until < firstPeriodStart(purchase) || isUnpaidTrial(purchase)) {
    return planSnapshot.rampPeriods ?? 0
  }
  return rampPeriodsBefore(purchase, planSnapshot, until) + 1
}

/** Returns the plan with the prices of the period in which the purchase changes to it. Other terms of its plan continue the ramp. */
export function planAfterChange<Plan extends PlanSnapshot>(
  plan: Plan,
  held: Purchase,
  at: Date,
): Plan {
  const isSame = plan.reference === held.planRef
  const continued = isSame ? rampPeriodsOf(held, at) || undefined : plan.rampPeriods
  return offeredPlan(plan, held.overrides ?? [], at, continued)
}

function rampPeriodsOf(purchase: Purchase | undefined, at: Date): number {
  if (purchase === undefined || purchase.planSnapshot === null) return 0
  if (isUnpaidTrial(purchase)) return purchase.planSnapshot.rampPeriods ?? 0
  return rampPeriodsBefore(purchase, purchase.planSnapshot, at)
}

/** Returns whether the first period after the trial was never paid. It gave no access, so the customer still has its price. */
function isUnpaidTrial(purchase: Purchase): boolean {
  const { startDate, anchor, paidAt } = purchase
  if (startDate >= anchor || paidAt !== null) return false
  const { priceMinor = 0n, setupFeeMinor = 0n } = pricesAt(purchase, anchor) ?? {}
  return priceMinor + setupFeeMinor > 0n
}

/** Returns the prices of the period of the purchase that contains the instant. Undefined without a price in its currency. */
export function pricesAt(purchase: Purchase, instant: Date): PlanPrices | undefined {
  const { planSnapshot: plan, currency } = purchase
  return plan === null ? undefined : pricesIn(planAt(purchase, plan, instant), currency)
}

/** Returns the plan of the purchase with the prices of the period that contains the instant. */
export function planAt<Plan extends PlanSnapshot>(
  purchase: Pick<
    Purchase,
    'anchor' | 'billingCycle' | 'cycleMode' | 'planSnapshot' | 'startDate' | 'overrides'
  >,
  plan: Plan,
  instant: Date,
): Plan {
  const cycle = cycleOf(purchase)
  const start = cycle === undefined ? purchase.startDate : periodAt(cycle, instant).start
  return planInPeriod(plan, purchase, start)
}

/**
 * Returns the price that was charged for the first period of a purchase, if it is another one than its start has, because a price
 * changed while the customer paid.
 */
export function firstPaid(
  purchase: Purchase,
  paid: PlanSnapshot,
): Pick<Purchase, 'firstPaidMinor'> {
  const { currency, startDate } = purchase
  const paidMinor = pricesIn(paid, currency)?.priceMinor ?? 0n
  const startMinor = pricesAt(purchase, startDate)?.priceMinor ?? 0n
  return paidMinor === startMinor ? {} : { firstPaidMinor: paidMinor }
}
