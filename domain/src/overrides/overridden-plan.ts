import type { Charge } from '@tollgate/schemas/http/charges'
import { planOfPeriod, type ProratedPurchase } from '../plans/included-units.ts'
import type { PlanCore } from '../plans/plan.ts'
import { applyOverrides } from './apply-overrides.ts'
import {
  currentOverrides,
  overridesAt,
  overridesWithin,
  type OverridesVersion,
} from './overrides.ts'

/** The customer's overrides of a purchase's product, oldest first. Absent or empty if there never were any. */
export type OverriddenPurchase = { readonly overrides?: readonly OverridesVersion[] | undefined }

/** Returns the plan with what decides about usage now: prices of the period that began at `start`, and current caps and limits. */
export function planInPeriod<Plan extends PlanCore>(
  plan: Plan,
  { overrides = [] }: OverriddenPurchase,
  start: Date,
): Plan {
  if (overrides.length === 0) return plan
  const pricing = overridesAt(overrides, start)
  return applyOverrides(plan, { pricing, limiting: currentOverrides(overrides) }).plan
}

/** Returns the plan as the customer's next period has it, unless the overrides change before. */
export function planOfNextPeriod<Plan extends PlanCore>(
  plan: Plan,
  { overrides = [] }: OverriddenPurchase,
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
export function planToBill<Plan extends PlanCore>(
  plan: Plan,
  purchase: OverriddenPurchase & ProratedPurchase,
  period: { readonly start: Date; readonly end: Date },
): Plan {
  const { overrides = [] } = purchase
  if (overrides.length === 0) return planOfPeriod(plan, purchase, period)
  const pricing = overridesAt(overrides, period.start)
  const plans = overridesWithin(overrides, period).map(
    (limiting) => applyOverrides(plan, { pricing, limiting }).plan,
  )
  const [first] = plans
  const charges = first?.terms.charges?.map((charge, at) =>
    withHighestCap(
      charge,
      plans.map(({ terms }) => terms.charges![at]!.cap ?? 0),
    ),
  )
  if (charges === undefined) return planOfPeriod(plan, purchase, period)
  return { ...plan, terms: { ...plan.terms, charges } }
}

/** 0 is no cap, which allows more than any other. */
function withHighestCap(charge: Charge, caps: readonly number[]): Charge {
  const { cap: _cap, ...uncapped } = charge
  return caps.includes(0) ? uncapped : { ...charge, cap: Math.max(...caps) }
}
