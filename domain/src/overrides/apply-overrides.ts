import type { Charge } from '@tollgate/schemas/http/charges'
import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import type { ChargeOverride } from '@tollgate/schemas/http/overrides'
import { isDeepStrictEqual } from 'node:util'
import { capFaults, chargedUsage, repeatedAllowances } from '../catalog/charge-faults.ts'
import { chargePriceFaults } from '../catalog/charge-price-faults.ts'
import { chargeKey, usageLimitKey } from '../plans/charge-key.ts'
import { fieldFault } from '../plans/field-fault.ts'
import type { PlanCore } from '../plans/plan.ts'
import { priceUnitOf } from '../pricing/charge-terms.ts'
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
    const raised = raisedBy(plan, at)
    const changed = index === -1 ? undefined : change.of(charges[at]!, all[index]!, raised)
    if (changed === undefined) return
    const next = charges.with(at, changed)
    const issues = change.faults(plan, charges[at]!, changed, next)
    if (issues.length === 0) charges = next
    else faults.push(...issues.map((each) => ({ ...each, path: ['charges', index, ...each.path] })))
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

/** The units that add-ons of the purchase add to a charge. An override replaces the units of the plan, and not those. */
type Raised = { readonly included: number; readonly cap: number }

function raisedBy({ terms: { addOns, charges } }: PlanCore, at: number): Raised {
  const [raised, own] = [charges?.[at], addOns?.own.terms.charges?.[at]]
  if (raised === undefined || own === undefined) return { included: 0, cap: 0 }
  // Add-ons raise by whole units, which the rounding restores exactly.
  const added = (field: 'included' | 'cap') => Math.round((raised[field] ?? 0) - (own[field] ?? 0))
  return { included: added('included'), cap: added('cap') }
}

/** Fields of an override that apply together or not at all. */
type Change = {
  /** Returns the changed charge, or undefined if the override has none of the fields. */
  readonly of: (charge: Charge, override: ChargeOverride, raised: Raised) => Charge | undefined
  /** Returns why the plan cannot have the changed charge. `charges` are all charges with it. */
  readonly faults: (
    plan: PlanCore,
    before: Charge,
    changed: Charge,
    charges: readonly Charge[],
  ) => ValidationIssue[]
}

/** A cap that is lower than the included units is allowed: it limits the customer, whatever the plan includes. */
function priceFaults(plan: PlanCore, charge: Charge): ValidationIssue[] {
  return chargePriceFaults(charge, chargedUsage(plan)).filter(({ path }) => path[0] !== 'cap')
}

const prices: Change = {
  of: (charge, { price, creditsPerUnit, tiers, rows }) => {
    if ([price, creditsPerUnit, tiers, rows].every((each) => each === undefined)) return undefined
    return {
      ...charge,
      ...(price === undefined ? {} : { price }),
      ...(creditsPerUnit === undefined ? {} : { creditsPerUnit }),
      ...(tiers === undefined ? {} : { tiers }),
      ...(rows === undefined ? {} : { rows: mergeRows(charge.rows ?? [], rows) }),
    }
  },
  faults: (plan, before, changed) => {
    const unit = priceUnitOf(before)
    // Lines of a period are known by the charges that have a price, so an override does not add or remove one.
    if (unit === undefined) return [fieldFault(['price'], 'This charge of the plan has no price.')]
    if ((changed.rows ?? []).length > (before.rows ?? []).length) {
      return [fieldFault(['rows'], 'The matrix of the plan has no row with these values.')]
    }
    const faults = priceFaults(plan, changed)
    if (faults.length > 0 || priceUnitOf(changed) === unit) return faults
    const field = unit === 'minor' ? 'price' : 'creditsPerUnit'
    return [fieldFault([field], `This charge of the plan has its price in \`${field}\`.`)]
  },
}

type Row = NonNullable<Charge['rows']>[number]

/** The rows of a matrix stay the same, because usage is summed by row. A row without a match is appended, which is refused. */
function mergeRows(rows: readonly Row[], own: readonly Row[]): Row[] {
  const isOf = (row: Row) => (other: Row) => isDeepStrictEqual(row.when, other.when)
  return [
    ...rows.map((row) => own.find(isOf(row)) ?? row),
    ...own.filter((row) => !rows.some(isOf(row))),
  ]
}

const includedUnits: Change = {
  of: (charge, { included }, raised) =>
    included === undefined ? undefined : { ...charge, included: included + raised.included },
  faults: (plan, _before, changed, charges) => [
    ...priceFaults(plan, changed),
    ...allowanceFaults(charges, 'included'),
  ],
}

const caps: Change = {
  // 0 is no cap.
  of: (charge, { cap }, raised) =>
    cap === undefined ? undefined : { ...charge, cap: cap === 0 ? 0 : cap + raised.cap },
  faults: (_plan, _before, changed, charges) => [
    ...capFaults(changed),
    ...allowanceFaults(charges, 'cap'),
  ],
}

function allowanceFaults(charges: readonly Charge[], field: string): ValidationIssue[] {
  return repeatedAllowances(charges).map((each) => ({ ...each, path: [field] }))
}
