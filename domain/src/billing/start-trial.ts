import { lockCustomer } from '../customers/repository.ts'
import type { Plan } from '../plans/plan.ts'
import { lockAndCheckSoldOut } from '../plans/sold-out.ts'
import { findPlan } from '../catalog/plans-repository.ts'
import { lockProductAgainstRemoval } from '../catalog/products-repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { givesAccess } from '../purchases/access.ts'
import { endPreviousPurchase, emitPlanChanged, type ActivateRequest } from './activate-plan.ts'
import { createPurchase } from '../purchases/create-purchase.ts'
import {
  decideActivation,
  requiresCard,
  type ActivationInput,
} from '../purchases/decide-activation.ts'
import { linkToPredecessor } from '../purchases/link-to-predecessor.ts'
import { hasTrial, newTrialPurchase } from '../purchases/new-purchase.ts'
import { endAfterNotice } from '../purchases/notice.ts'
import { offerOwnPeriod } from '../purchases/offered-plan.ts'
import { readActivationState } from '../purchases/read-activation-state.ts'
import type { Purchase } from '../purchases/repository.ts'

export type TrialOutcome =
  | { readonly kind: 'started'; readonly purchase: Purchase; readonly plan: Plan }
  /** The customer cannot try the plan: it has no trial for this customer, or the trial requires a saved card. */
  | { readonly kind: 'no-trial' }

/**
 * Starts the trial of a plan and ends the customer's previous purchase of the product. Nothing is charged until the end
 * of the trial. The customer's row is locked, so of concurrent requests one starts the trial.
 */
export async function startTrial(
  work: UnitOfWork,
  request: ActivateRequest,
): Promise<TrialOutcome> {
  const { sql, providerId, now } = work
  const { customer, productRef, planRef, cycleMode } = request
  const product = await lockProductAgainstRemoval(sql, providerId, productRef)
  if (product === undefined) return { kind: 'no-trial' }
  if ((await lockCustomer(sql, providerId, customer.reference)) === undefined) {
    return { kind: 'no-trial' }
  }
  const plan = await findPlan(sql, providerId, productRef, planRef)
  const ofPlan = { customerRef: customer.reference, productRef, planRef }
  const state = await readActivationState(sql, providerId, ofPlan)
  if (plan === undefined) return { kind: 'no-trial' }
  const isSoldOut = await lockAndCheckSoldOut(sql, providerId, plan, customer.reference)
  if (!canStartTrial({ product, plan, ...state, isSoldOut, now })) return { kind: 'no-trial' }
  // A first period that is free for the customer starts with a card, as it does without a trial.
  const offered = offerOwnPeriod(plan, state, now)
  if (requiresCard(offered) && !state.hasCard) return { kind: 'no-trial' }
  const replaced = await endPreviousPurchase(work, state.last)
  const started = newTrialPurchase({ customer, product, plan, cycleMode, now })
  const purchase = await linkToPredecessor(work, started, { previous: state.last, replaced }, false)
  await createPurchase(work, purchase)
  await emitPlanChanged(work, purchase, replaced)
  return { kind: 'started', purchase, plan }
}

/**
 * Returns whether the customer can try the plan. Each customer can try each plan once. A customer within a paid period
 * of another plan cannot, because the trial would end that period. A customer whose plan has a notice period cannot
 * either, because the trial would end that plan at once and without payment.
 */
export function canStartTrial(input: ActivationInput): boolean {
  const decision = decideActivation(input)
  if (decision.kind !== 'payment-required' || decision.hasDebts) return false
  if (decision.change !== undefined) return false
  const { last, now } = input
  if (last !== undefined && givesAccess(last, now) && endAfterNotice(last, now) !== undefined) {
    return false
  }
  return hasTrial(decision.plan) && input.lastOfPlan === undefined
}
