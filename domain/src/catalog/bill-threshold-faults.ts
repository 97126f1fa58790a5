import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import { chargeMaxMinor, chargeMinMinor } from '../money/processor-amounts.ts'
import { fieldFault } from '../plans/field-fault.ts'
import type { Plan, PlanCore } from '../plans/plan.ts'
import { billedCharges, chargesUsageLater } from '../pricing/billed-charges.ts'

/**
 * Returns the faults of the amount at which a running period is billed. A plan without faults can be billed at any time in a period,
 * and the bills add up to the price of the period.
 */
export function billThresholdFaults(plan: PlanCore & Pick<Plan, 'currency'>): ValidationIssue[] {
  const { billAtUnbilledMinor: atMinor = 0, maxUnbilledMinor = 0 } = plan.terms
  if (atMinor === 0) return []
  if (!chargesUsageLater(plan)) {
    return [fault('Only post-paid and hybrid plans that charge for usage bill at an amount.')]
  }
  // A later unit can lower the price of units that are billed already.
  if (billedCharges(plan).some(({ terms: { rate } }) => isVolume(rate.kind))) {
    return [fault('Plans with volume prices are billed at the end of the period. Leave it out.')]
  }
  const { currency } = plan
  const [least, most] = [chargeMinMinor(currency), chargeMaxMinor(currency)]
  if (atMinor < least || atMinor > most) {
    return [fault(`Use an amount that can be charged in ${currency}: from ${least} to ${most}.`)]
  }
  if (maxUnbilledMinor > 0 && maxUnbilledMinor <= atMinor) {
    return [fault('`maxUnbilledMinor` stops usage before. Use an amount below it.')]
  }
  return []
}

function isVolume(kind: string): boolean {
  return kind === 'volume' || kind === 'priced_volume'
}

function fault(message: string): ValidationIssue {
  return fieldFault(['billAtUnbilledMinor'], message)
}
