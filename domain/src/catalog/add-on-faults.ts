import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import { isRaisable } from '../plans/add-ons.ts'
import { fieldFault } from '../plans/field-fault.ts'
import { renews, type Plan } from '../plans/plan.ts'
import { pricesIn } from '../pricing/plan-prices.ts'
import type { AddOnTerms } from './add-on.ts'

/** Returns why the add-on cannot be attached to the plans that it names, by the fields of the request. `plans` are those that exist. */
export function addOnFaults(
  { planRefs, raises }: Pick<AddOnTerms, 'planRefs' | 'raises'>,
  plans: readonly Plan[],
): ValidationIssue[] {
  const named = planRefs.map((reference) => plans.find((plan) => plan.reference === reference))
  const first = named.find((plan) => plan !== undefined)
  const faults = named.flatMap((plan, at) => {
    const fault = planFault(plan, first)
    return fault === undefined ? [] : [fieldFault(['planRefs', at], fault)]
  })
  if (faults.length > 0) return faults
  return raises.flatMap((raise, at) => {
    const lacking = named.find((plan) => plan !== undefined && !isRaisable(plan, raise))
    if (lacking === undefined) return []
    const what = raise.raises === 'limit' ? 'limit' : 'included units'
    const message = `The plan ${lacking.reference} has no ${what} of the meter ${raise.meter}.`
    return [fieldFault(['raises', at], message)]
  })
}

function planFault(plan: Plan | undefined, first: Plan | undefined): string | undefined {
  if (plan === undefined || first === undefined) return 'The product has no such plan.'
  const isPeriodic = plan.type === 'recurring' || plan.type === 'hybrid'
  if (!isPeriodic || !renews(plan)) return 'Use a recurring or hybrid plan that renews.'
  if ((pricesIn(plan, plan.currency)?.priceMinor ?? 0n) === 0n) {
    return 'Use a plan with a price for each period.'
  }
  const { billingCycle, billingCycleDays } = plan.terms
  if (billingCycle === undefined) return 'Use a plan with a billing cycle.'
  const isSame =
    plan.currency === first.currency &&
    billingCycle === first.terms.billingCycle &&
    billingCycleDays === first.terms.billingCycleDays
  return isSame ? undefined : 'All plans need the same currency and billing cycle.'
}
