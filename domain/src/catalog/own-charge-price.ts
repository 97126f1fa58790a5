import type { RampStep } from '@tollgate/schemas/http/agreed-prices'
import type { Charge } from '@tollgate/schemas/http/charges'
import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import { isDeepStrictEqual } from 'node:util'
import { fieldFault } from '../plans/field-fault.ts'
import type { PlanCore } from '../plans/plan.ts'
import { priceUnitOf } from '../pricing/charge-terms.ts'
import { chargedUsage } from './charge-faults.ts'
import { chargePriceFaults } from './charge-price-faults.ts'

/* A price in place of the price of a plan's charge: of one customer, or of a step of a ramp. */

/** The price fields; all absent for no price. */
export type OwnPrice = Omit<NonNullable<RampStep['charges']>[number], 'charge'>

/** Returns the charge with the price, or undefined if none is given. */
export function withOwnPrice(
  charge: Charge,
  { price, creditsPerUnit, tiers, rows }: OwnPrice,
): Charge | undefined {
  if ([price, creditsPerUnit, tiers, rows].every((each) => each === undefined)) return undefined
  return {
    ...charge,
    ...(price === undefined ? {} : { price }),
    ...(creditsPerUnit === undefined ? {} : { creditsPerUnit }),
    ...(tiers === undefined ? {} : { tiers }),
    ...(rows === undefined ? {} : { rows: mergeRows(charge.rows ?? [], rows) }),
  }
}

/** Returns why the plan cannot have the changed charge. */
export function withOwnPriceFaults(
  plan: PlanCore,
  before: Charge,
  changed: Charge,
): ValidationIssue[] {
  const unit = priceUnitOf(before)
  // Lines of a period are known by the charges that have a price, so an own price does not add or remove one.
  if (unit === undefined) return [fieldFault(['price'], 'This charge of the plan has no price.')]
  if ((changed.rows ?? []).length > (before.rows ?? []).length) {
    return [fieldFault(['rows'], 'The matrix of the plan has no row with these values.')]
  }
  const faults = ownPriceFaults(plan, changed)
  if (faults.length > 0 || priceUnitOf(changed) === unit) return faults
  const field = unit === 'minor' ? 'price' : 'creditsPerUnit'
  return [fieldFault([field], `This charge of the plan has its price in \`${field}\`.`)]
}

/** A cap that is lower than the included units is allowed: it limits the customer, whatever the plan includes. */
export function ownPriceFaults(plan: PlanCore, charge: Charge): ValidationIssue[] {
  return chargePriceFaults(charge, chargedUsage(plan)).filter(({ path }) => path[0] !== 'cap')
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
