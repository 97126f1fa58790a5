import type { FastifyRequest } from 'fastify'
import type { Plan } from '@tollgate/domain/plans/plan'
import { activatePlan, type ActivateAndBillRequest } from '@tollgate/domain/billing/activate-plan'
import { startTrial } from '@tollgate/domain/billing/start-trial'
import { completeCheckoutSession } from '@tollgate/domain/sessions/checkout-sessions'
import { mayCheckoutSell } from '@tollgate/domain/sessions/may-checkout-sell'
import type { UnitOfWork } from '@tollgate/domain/unit-of-work/unit-of-work'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { requireProvider } from '../../access/require.ts'
import { checkoutOf, operationOfCheckout } from './checkout.ts'

/** How a plan starts without a payment. */
export type Start = 'activate' | 'trial'

/**
 * Starts the plan that the checkout sells, or that the customer chose on it. Returns false if the plan cannot start in this way
 * now. Does nothing for a completed checkout, or for one that sells no plans.
 */
export async function startCheckoutPlan(
  pages: ChangeParts & { readonly hostedUrl: string },
  request: FastifyRequest,
  chosen: string,
  start: Start,
): Promise<boolean> {
  const { session, caller, customer, status } = checkoutOf(request)
  const { productRef, sessionId } = session
  // A checkout for credits may name a product, but it does not sell the product's plans.
  const isForPlans = session.purpose === 'product' && productRef !== null
  if (status === 'used' || !isForPlans) return true
  const planRef = session.planRef ?? chosen
  const { cycleMode, name } = await requireProvider(pages, caller)
  const sale = { customer, productRef, planRef, cycleMode, seller: { name } }
  return commit(pages, operationOfCheckout(pages, request), async (work) => {
    if (!(await mayCheckoutSell(work, session, planRef))) return false
    const plan = await startPlan(work, sale, start)
    if (plan === undefined) return false
    // Complete the checkout in the same transaction, so that a crash leaves neither a purchase nor a completed checkout.
    const result = { planRef, amountMinor: 0, currency: plan.currency }
    await completeCheckoutSession(work, pages.hostedUrl, sessionId, result)
    return true
  })
}

/** Starts the plan. Returns undefined if it cannot start. */
async function startPlan(
  work: UnitOfWork,
  sale: ActivateAndBillRequest,
  start: Start,
): Promise<Plan | undefined> {
  if (start === 'trial') {
    const outcome = await startTrial(work, sale)
    return outcome.kind === 'started' ? outcome.plan : undefined
  }
  const outcome = await activatePlan(work, sale)
  return outcome.kind === 'activated' || outcome.kind === 'scheduled' ? outcome.plan : undefined
}
