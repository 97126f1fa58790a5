import { lockCustomer } from '../customers/repository.ts'
import type { Plan } from '../plans/plan.ts'
import { findPlan } from '../plans/repository.ts'
import { holdProduct } from '../products/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { endPrevious, tellOfPlanChange, type ActivateRequest } from './activate-plan.ts'
import { createPurchase } from './create-purchase.ts'
import { decideActivation, type ActivationInput } from './decide-activation.ts'
import { hasTrial, trialPurchase } from './new-purchase.ts'
import { findDecidingPurchase, findLastOfPlan, type Purchase } from './repository.ts'

export type TrialOutcome =
  | { readonly kind: 'started'; readonly purchase: Purchase; readonly plan: Plan }
  /** It cannot be tried, by this customer or at all. */
  | { readonly kind: 'no-trial' }

/**
 * Gives the customer a plan that costs money, without any until the trial's end, in place of another one of the product.
 * The customer's row is locked: of calls that arrive together one starts it.
 */
export async function startTrial(
  work: UnitOfWork,
  request: ActivateRequest,
): Promise<TrialOutcome> {
  const { sql, providerId, now } = work
  const { customer, productRef, planRef, cycleMode } = request
  const product = await holdProduct(sql, providerId, productRef)
  if (product === undefined) return { kind: 'no-trial' }
  if ((await lockCustomer(sql, providerId, customer.reference)) === undefined) {
    return { kind: 'no-trial' }
  }
  const plan = await findPlan(sql, providerId, productRef, planRef)
  const last = await findDecidingPurchase(sql, providerId, customer.reference, productRef)
  const ofPlan = { customerRef: customer.reference, productRef, planRef }
  const lastOfPlan = await findLastOfPlan(sql, providerId, ofPlan)
  if (plan === undefined || !mayTry({ product, plan, last, lastOfPlan, now })) {
    return { kind: 'no-trial' }
  }
  const replaced = await endPrevious(work, last)
  const purchase = trialPurchase({ customer, product, plan, cycleMode, now })
  await createPurchase(work, purchase)
  await tellOfPlanChange(work, purchase, replaced)
  return { kind: 'started', purchase, plan }
}

/**
 * Once for each customer and plan: whoever has had it in any way knows it. Nor by who changes to it within a period that
 * is paid, of which nothing would be left.
 */
export function mayTry(input: ActivationInput): boolean {
  const decision = decideActivation(input)
  if (decision.kind !== 'payment-required' || decision.change !== undefined) return false
  return hasTrial(decision.plan) && input.lastOfPlan === undefined
}
