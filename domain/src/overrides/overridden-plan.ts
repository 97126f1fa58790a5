import type { Charge } from '@tollgate/schemas/http/charges'
import { planOfPeriod, type ProratedPurchase } from '../plans/included-units.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { applyOverrides } from './apply-overrides.ts'
import {
  currentOverrides,
  overridesWithin,
  type Overrides,
  type OverridesVersion,
} from './overrides.ts'
import { pricedPlan, rampPeriodsBefore, type RampedPurchase } from './priced-plan.ts'

export type OverriddenPurchase = RampedPurchase & {
  /** The customer's overrides of the product, oldest first. Absent or empty if there never were any. */
  readonly overrides?: readonly OverridesVersion[] | undefined
}

/**
 * Returns the plan with what decides now: prices of the period that began at `start`, and current caps and limits. A period that a
 * purchase continues has the prices of the purchase's start.
 */
export function planInPeriod<Plan extends PlanSnapshot>(
  plan: Plan,
  purchase: OverriddenPurchase,
  start: Date,
): Plan {
  return pricedBy(plan, purchase, start, currentOverrides(purchase.overrides ?? []))
}

function pricedBy<Plan extends PlanSnapshot>(
  plan: Plan,
  purchase: OverriddenPurchase,
  periodStart: Date,
  limiting: Overrides,
): Plan {
  const { overrides = [], startDate } = purchase
  if (overrides.length === 0 && plan.terms.ramp === undefined) return plan
  const start = periodStart < startDate ? startDate : periodStart
  const rampPeriods = rampPeriodsBefore(purchase, plan, start)
  return pricedPlan(plan, overrides, { start, rampPeriods }, limiting)
}

/** Returns the plan with the caps, limits and included units that the customer's next period has, unless the overrides change before. */
export function planOfNextPeriod<Plan extends PlanSnapshot>(
  plan: Plan,
  { overrides = [] }: Pick<OverriddenPurchase, 'overrides'>,
): Plan {
  if (overrides.length === 0) return plan
  const current = currentOverrides(overrides)
  return applyOverrides(plan, { pricing: current, limiting: current }).plan
}

/**
 * Returns the plan by which the usage of a period is billed. A plan without charges has the units of its period. With charges,
 * prices and included units are those that the period began with, and a cap is the highest one that was in force in the period:
 * usage that limit checks allowed is charged.
 */
export function planToBill<Plan extends PlanSnapshot>(
  plan: Plan,
  purchase: OverriddenPurchase & ProratedPurchase,
  period: { readonly start: Date; readonly end: Date },
): Plan {
  const { overrides = [] } = purchase
  const plans = overridesWithin(overrides, period).map((limiting) =>
    pricedBy(plan, purchase, period.start, limiting),
  )
  const [first = plan] = plans
  if (overrides.length === 0) return planOfPeriod(first, purchase, period)
  const charges = first.terms.charges?.map((charge, at) =>
    withHighestCap(
      charge,
      plans.map(({ terms }) => terms.charges![at]!.cap ?? 0),
    ),
  )
  if (charges === undefined) return planOfPeriod(first, purchase, period)
  return { ...first, terms: { ...first.terms, charges } }
}

/** 0 is no cap, which allows more than any other. */
function withHighestCap(charge: Charge, caps: readonly number[]): Charge {
  const { cap: _cap, ...uncapped } = charge
  return caps.includes(0) ? uncapped : { ...charge, cap: Math.max(...caps) }
}
