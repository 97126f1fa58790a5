import { fieldFault } from '../plans/field-fault.ts'
import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import { chargesUsageLater } from '../pricing/billed-charges.ts'
import { requiresPayment, type PlanCosts } from '../plans/plan.ts'

/**
 * Returns why a plan cannot require a saved card: it never charges later what was not paid when it started. A plan that is
 * bought leaves its card with the payment, and pre-paid usage is paid from the wallet (see docs/decisions/plans.md, A plan can
 * require a saved card).
 */
export function paymentMethodFaults(plan: PlanCosts): ValidationIssue[] {
  if (plan.terms.requiresPaymentMethod !== true || startsUnpaidAndCharges(plan)) return []
  const message =
    'Only post-paid plans, hybrid plans that charge for usage, and trials start without a payment and charge later.'
  return [fieldFault(['requiresPaymentMethod'], message)]
}

function startsUnpaidAndCharges(plan: PlanCosts): boolean {
  if (chargesUsageLater(plan)) return true
  const { type, terms } = plan
  const isTried = (terms.trialDays ?? 0) > 0 && terms.billingCycle !== undefined
  return isTried && type !== 'usage-based' && requiresPayment(plan)
}
