import { attachedTo, changedUnits, withAddOns, withoutAddOns } from '../plans/add-ons.ts'
import { includedMicros } from '../plans/included-units.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'

/* Add-ons are free in a trial, like the plan. So a trial has the units of the plan alone: otherwise any number of units would be free. */

/** Returns the units that a trial of the plan includes, 10^-6. Null for as many as the plan includes, whose add-ons raise nothing. */
export function unitsOfTrial(plan: PlanSnapshot): bigint | null {
  if (plan.terms.charges !== undefined) return null
  const raises = attachedTo(plan).some((addOn) => addOn.raises.length > 0)
  return raises ? includedMicros(withoutAddOns(plan)) : null
}

/**
 * Returns whether the add-ons of the plan would raise a trial. A trial can only have other included units than the periods after it, not
 * other units of charges, and no other hard cap of units that are charged.
 */
export function raisesTrial(plan: PlanSnapshot): boolean {
  const own = withoutAddOns(plan)
  if (plan.terms.charges !== undefined) return changedUnits(own, plan) !== 'same'
  const isHardCap = plan.type === 'hybrid' && plan.terms.overagePolicy?.allowOverage !== true
  return isHardCap && own.terms.limit !== plan.terms.limit
}

/** Returns the plan without the add-ons that would raise the trial. They wait for the first paid period. */
export function planOfTrial(plan: PlanSnapshot, currency: string): PlanSnapshot {
  if (!raisesTrial(plan)) return plan
  const unraising = attachedTo(plan).filter(({ raises }) => raises.length === 0)
  return withAddOns(plan, unraising, currency)
}
