import type { Charge } from '@tollgate/schemas/http/charges'
import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import type { ChargeOverride } from '@tollgate/schemas/http/overrides'
import { capFaults, repeatedAllowances } from '../catalog/charge-faults.ts'
import { ownPriceFaults, withOwnPrice, withOwnPriceFaults } from '../catalog/own-charge-price.ts'
import { chargeKey, usageLimitKey } from '../plans/charge-key.ts'
import { faultsUnder } from '../plans/field-fault.ts'
import type { PlanCore } from '../plans/plan.ts'
import { isRemoved, limitsToSet, type Overrides } from './overrides.ts'

/*
 * A customer's overrides follow the customer from plan to plan, so a field may not fit the charge of another plan that has the same
 * key: a price of tiers does not fit a charge per unit. Such a field has no effect on that plan.
 */

export type OverridesInForce = {
  /** Decide prices and included units. */
  readonly pricing: Overrides
  /** Decide caps and limits. */
  readonly limiting: Overrides
}

export type OverriddenPlan<Plan> = {
  readonly plan: Plan
  /** Fields without an effect on this plan, by the fields of the overrides. */
  readonly faults: readonly ValidationIssue[]
}

/** Returns the plan as the customer has it. A plan without charges has no overrides. */
export function applyOverrides<Plan extends PlanCore>(
  plan: Plan,
  { pricing, limiting }: OverridesInForce,
): OverriddenPlan<Plan> {
  const given = plan.terms.charges
  if (given === undefined) return { plan, faults: [] }
  let charges = given
  const faults: ValidationIssue[] = []
  const change = (at: number, { charges: all }: Overrides, change: Change): void => {
    const index = all.findIndex(({ charge }) => charge === chargeKey(given[at]!))
    const changed = index === -1 ? undefined : change.of(charges[at]!, all[index]!)
    if (changed === undefined) return
    const next = charges.with(at, changed)
    const issues = change.faults(plan, charges[at]!, changed, next)
    if (issues.length === 0) charges = next
    else faults.push(...faultsUnder(['charges', index], issues))
  }
  for (const at of given.keys()) {
    change(at, pricing, prices)
    change(at, pricing, includedUnits)
    change(at, limiting, caps)
  }
  return {
    plan: { ...plan, terms: { ...plan.terms, charges, ...limitsOf(plan, limiting) } },
    faults,
  }
}

function limitsOf({ terms }: PlanCore, { usageLimits }: Overrides) {
  if (usageLimits.length === 0) return {}
  const own = new Set(
    usageLimits.map((limit) => (isRemoved(limit) ? limit.key : usageLimitKey(limit))),
  )
  const kept = (terms.usageLimits ?? []).filter((limit) => !own.has(usageLimitKey(limit)))
  return { usageLimits: [...kept, ...limitsToSet(usageLimits)] }
}

/** Fields of an override that apply together or not at all. */
type Change = {
  /** Returns the changed charge, or undefined if the override has none of the fields. */
  readonly of: (charge: Charge, override: ChargeOverride) => Charge | undefined
  /** Returns why the plan cannot have the changed charge. `charges` are all charges with it. */
  readonly faults: (
    plan: PlanCore,
    before: Charge,
    changed: Charge,
    charges: readonly Charge[],
  ) => ValidationIssue[]
}

const prices: Change = { of: withOwnPrice, faults: withOwnPriceFaults }

const includedUnits: Change = {
  of: (charge, { included }) => (included === undefined ? undefined : { ...charge, included }),
  faults: (plan, _before, changed, charges) => [
    ...ownPriceFaults(plan, changed),
    ...allowanceFaults(charges, 'included'),
  ],
}

const caps: Change = {
  of: (charge, { cap }) => (cap === undefined ? undefined : { ...charge, cap }),
  faults: (_plan, _before, changed, charges) => [
    ...capFaults(changed),
    ...allowanceFaults(charges, 'cap'),
  ],
}

function allowanceFaults(charges: readonly Charge[], field: string): ValidationIssue[] {
  return repeatedAllowances(charges).map((each) => ({ ...each, path: [field] }))
}
