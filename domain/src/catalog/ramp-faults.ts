import type { RampStep } from '@tollgate/schemas/http/agreed-prices'
import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import { faultsUnder, fieldFault } from '../plans/field-fault.ts'
import { currenciesOf } from '../pricing/plan-prices.ts'
import { withOwnPrices, type PriceablePlan } from './own-prices.ts'

type RampedPlan = PriceablePlan & Parameters<typeof currenciesOf>[0]

/** Returns the faults of a ramp of the plan, with paths that begin at the list of steps. */
export function rampFaults(plan: RampedPlan, ramp: readonly RampStep[]): ValidationIssue[] {
  if (ramp.length === 0) return []
  if (plan.terms.billingCycle === undefined) {
    return [fieldFault([], 'A ramp counts billing periods, and the plan has none.')]
  }
  return [
    ...currencyFaults(plan),
    ...ramp.flatMap(({ periods: _periods, ...prices }, index) => {
      if (Object.values(prices).every((price) => price === undefined)) {
        return [fieldFault([index], 'The step has no price.')]
      }
      const { faults } = withOwnPrices(plan, prices, plan)
      return faultsUnder([index], faults)
    }),
  ]
}

/** Returns the fault of prices in one currency for a plan that is sold in several. */
export function currencyFaults(plan: RampedPlan): ValidationIssue[] {
  if (currenciesOf(plan).length <= 1) return []
  return [fieldFault([], 'The plan is sold in several currencies. Make a plan for each currency.')]
}
