import { fieldFault } from '../plans/field-fault.ts'
import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import { quantityMax } from '@tollgate/schemas/limits'
import { microsFromNumber, numberFromMicros } from '@tollgate/schemas/quantity'
import { picoCreditsOf } from '../pricing/price-line.ts'
import { unpricedMicros } from '../pricing/price-usage.ts'
import { unitsWithinAmount } from '../pricing/unbilled-units.ts'
import { costsSomething, usageTermsOf } from '../pricing/usage-terms.ts'
import type { Plan, PlanCore } from '../plans/plan.ts'

/*
 * `maxUnbilledMinor` limits how much unbilled usage a customer may have in the current period. Limit checks count
 * units, so the plan stores how many units fit under the amount (see docs/decisions/plans.md, Unbilled usage has a
 * limit in units).
 */

type UnbilledCap = {
  /** 10^-6 units. */
  readonly units: bigint
  /** Whether units carried over from the previous period are added to the limit. */
  readonly isWidened: boolean
}

type LimitedPlan = PlanCore & Pick<Plan, 'currency'>

/** Units of each currency that 1 US dollar buys, as decimal text keyed by currency. */
export type DollarRates = ReadonlyMap<string, string>

/**
 * Returns how many units of a period cost at most the plan's `maxUnbilledMinor`, at the current exchange rate. Returns
 * undefined if the plan has no such limit, or if the limit has no effect.
 */
export function maxUnbilledUnits(plan: LimitedPlan, rates: DollarRates): number | undefined {
  const { maxUnbilledMinor = 0 } = plan.terms
  const terms = usageTermsOf(plan)
  const unitsPerDollar = rates.get(plan.currency)
  if (maxUnbilledMinor === 0 || terms === undefined || unitsPerDollar === undefined)
    return undefined
  const conversion = { currency: plan.currency, unitsPerDollar }
  const micros = unitsWithinAmount(terms, picoCreditsOf(BigInt(maxUnbilledMinor), conversion))
  if (micros === undefined) return undefined
  const mostMicros = BigInt(microsFromNumber(quantityMax)!)
  return numberFromMicros(micros < mostMicros ? micros : mostMicros)
}

/** Returns the faults of the limit. The plan's `maxUnbilledUnits` must have been derived before. */
export function unbilledLimitFaults(plan: LimitedPlan, rates: DollarRates): ValidationIssue[] {
  const { maxUnbilledMinor = 0, maxUnbilledUnits: units } = plan.terms
  if (maxUnbilledMinor === 0) return []
  const terms = usageTermsOf(plan)
  if (terms === undefined || !costsSomething(terms)) {
    return [fault('Only post-paid and hybrid plans that charge for usage have unbilled usage.')]
  }
  if (!rates.has(plan.currency)) return [fault(`No exchange rate of ${plan.currency} is known.`)]
  if (units === undefined) return [fault('No usage of this plan costs that much.')]
  if (BigInt(microsFromNumber(units)!) > unpricedMicros(terms, 0n)) return []
  return [fault('The first unit that is charged costs more than that.')]
}

function fault(message: string): ValidationIssue {
  return fieldFault(['maxUnbilledMinor'], message)
}

/**
 * Returns how many units a period may use before the usage must be billed, in 10^-6 units. Returns null if there is no
 * such limit. In a plan with overage, carried-over units are free of charge, so they raise the limit.
 */
export function unbilledCap(plan: PlanCore): UnbilledCap | null {
  const { maxUnbilledUnits: units } = plan.terms
  if (units === undefined) return null
  const isWidened = usageTermsOf(plan)?.overage !== undefined
  return { units: BigInt(microsFromNumber(units) ?? 0), isWidened }
}
