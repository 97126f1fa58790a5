import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { faultsUnder, fieldFault } from '../plans/field-fault.ts'
import type { Plan } from '../plans/plan.ts'
import { meterFaults, type ChargeableMeters } from './charge-faults.ts'

type PackPlan = Pick<Plan, 'type' | 'priceMinor' | 'setupFeeMinor' | 'terms'>

/**
 * Returns the faults of a pack, by request field. A pack has a price, since a free one could be taken any number of times, and
 * nothing but its units: a purchase of it has no limits, periods or trial of its own.
 */
export function packFaults(plan: PackPlan, meters: ChargeableMeters): ValidationIssue[] {
  const { pack } = plan.terms
  if (pack === undefined) return []
  if (plan.type !== 'one-time') {
    return [fieldFault(['pack'], 'Only one-time plans can be packs. Leave out `pack`.')]
  }
  const { meter = requestsMeterName } = pack
  return [
    ...unpriced(plan),
    ...uselessFields(plan),
    ...(meter === requestsMeterName
      ? []
      : faultsUnder(['pack'], meterFaults({ meter }, meters.get(meter)))),
  ]
}

function unpriced({ priceMinor, terms }: PackPlan): ValidationIssue[] {
  const message = 'A pack needs a price above 0.'
  const { pricingOptions = [] } = terms
  if (pricingOptions.length === 0) {
    return priceMinor > 0 ? [] : [fieldFault(['price'], message)]
  }
  return pricingOptions.flatMap(({ price }, index) =>
    price > 0 ? [] : [fieldFault(['pricingOptions', index, 'price'], message)],
  )
}

/** 0 and absent mean the same. */
function uselessFields({ setupFeeMinor, terms }: PackPlan): ValidationIssue[] {
  const given: readonly (readonly [ValidationIssue['path'], boolean])[] = [
    [['limit'], (terms.limit ?? 0) > 0],
    [['limits', 'maxTransactions'], Boolean(terms.limits?.['maxTransactions'])],
    [['freeUnits'], (terms.freeUnits ?? 0) > 0],
    [['charges'], terms.charges !== undefined],
    [['setupFee'], (setupFeeMinor ?? 0) > 0],
    [['trialDays'], (terms.trialDays ?? 0) > 0],
  ]
  return given
    .filter(([, isGiven]) => isGiven)
    .map(([path]) => fieldFault(path, `A pack has no \`${path.join('.')}\`. Leave it out.`))
}
