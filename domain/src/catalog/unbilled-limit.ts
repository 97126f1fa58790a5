import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import { quantityMax } from '@tollgate/schemas/limits'
import { microsFromNumber, numberFromMicros } from '@tollgate/schemas/quantity'
import { picoCreditsOf } from '../pricing/price-line.ts'
import { unpricedMicros } from '../pricing/price-usage.ts'
import { unitsWithin } from '../pricing/unbilled-units.ts'
import { costsSomething, usageTermsOf } from '../pricing/usage-terms.ts'
import type { Plan, PlanCore } from '../plans/plan.ts'

/*
 * `maxUnbilledMinor`: how much usage of a running period a customer may have that is not billed yet. Limit checks count
 * units, so the plan keeps how many fit under the amount (see docs/decisions/plans.md, Unbilled usage has a limit in units).
 */

type UnbilledCap = {
  /** 10^-6. */
  readonly units: bigint
  /** Units that were left by the period before come on top. */
  readonly isWidened: boolean
}

type LimitedPlan = PlanCore & Pick<Plan, 'currency'>

/** What one US dollar buys, written out, by currency. */
export type DollarRates = ReadonlyMap<string, string>

/**
 * Returns how many units of a period cost no more than the plan's `maxUnbilledMinor`, by today's exchange rate. Undefined:
 * the plan has no such limit, or one that means nothing.
 */
export function maxUnbilledUnits(plan: LimitedPlan, rates: DollarRates): number | undefined {
  const { maxUnbilledMinor = 0 } = plan.terms
  const terms = usageTermsOf(plan)
  const unitsPerDollar = rates.get(plan.currency)
  if (maxUnbilledMinor === 0 || terms === undefined || unitsPerDollar === undefined)
    return undefined
  const conversion = { currency: plan.currency, unitsPerDollar }
  const micros = unitsWithin(terms, picoCreditsOf(BigInt(maxUnbilledMinor), conversion))
  if (micros === undefined) return undefined
  const mostMicros = BigInt(microsFromNumber(quantityMax)!)
  return numberFromMicros(micros < mostMicros ? micros : mostMicros)
}

/** Returns what is wrong with the limit of a plan whose `maxUnbilledUnits` are derived. */
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
  return { code: 'custom', path: ['maxUnbilledMinor'], message }
}

/**
 * Returns how many units a period may have before its usage must be billed, in 10^-6. Null: no such limit. Units that were
 * carried over are included in the price of a plan with overage, and so widen it.
 */
export function unbilledCap(plan: PlanCore): UnbilledCap | null {
  const { maxUnbilledUnits: units } = plan.terms
  if (units === undefined) return null
  const isWidened = usageTermsOf(plan)?.overage !== undefined
  return { units: BigInt(microsFromNumber(units) ?? 0), isWidened }
}
