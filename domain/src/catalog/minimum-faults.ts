import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import { chargeMaxMinor, chargeMinMinor } from '../money/processor-amounts.ts'
import { fieldFault } from '../plans/field-fault.ts'
import type { Plan, PlanCore } from '../plans/plan.ts'
import { chargesUsageLater } from '../pricing/billed-charges.ts'
import { currenciesOf } from '../pricing/plan-prices.ts'

type MinimumPlan = PlanCore &
  Pick<Plan, 'currency' | 'priceMinor' | 'basePriceMinor' | 'setupFeeMinor'>

/** Returns the faults of the minimum that the usage of each period costs. */
export function minimumFaults(plan: MinimumPlan): ValidationIssue[] {
  const { minimumCommitment: minor = 0, billingCycle } = plan.terms
  if (minor === 0) return []
  if (!chargesUsageLater(plan)) {
    return [fault('Only post-paid and hybrid plans that charge for usage have a minimum.')]
  }
  if (billingCycle === undefined) return [fault('A minimum is per period. Set a billingCycle.')]
  if (currenciesOf(plan).length > 1) {
    return [fault('A plan with a minimum has one currency. Make a plan for each currency.')]
  }
  const { currency } = plan
  const [least, most] = [chargeMinMinor(currency), chargeMaxMinor(currency)]
  if (minor < least || minor > most) {
    return [fault(`Use an amount that can be charged in ${currency}: from ${least} to ${most}.`)]
  }
  return []
}

function fault(message: string): ValidationIssue {
  return fieldFault(['minimumCommitment'], message)
}
