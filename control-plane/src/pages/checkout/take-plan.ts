import type { FastifyRequest } from 'fastify'
import type { Plan } from '@tollgate/domain/plans/plan'
import { activatePlan, type SoldRequest } from '@tollgate/domain/billing/activate-plan'
import { startTrial } from '@tollgate/domain/billing/start-trial'
import { completeCheckoutSession } from '@tollgate/domain/sessions/checkout-sessions'
import { sellsPlan } from '@tollgate/domain/sessions/sells-plan'
import type { UnitOfWork } from '@tollgate/domain/unit-of-work/unit-of-work'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { requireProvider } from '../../access/require.ts'
import { checkoutOf, operationOfCheckout } from './checkout.ts'

/** How a plan is taken without a payment. */
export type Start = 'activate' | 'trial'

/**
 * Gives the customer the plan that the checkout sells, or that was chosen on it. Returns false if it does not start like
 * this now. A checkout that is used up, or that sells no plans, has nothing to do.
 */
export async function takePlan(
  pages: ChangeParts & { readonly hostedUrl: string },
  request: FastifyRequest,
  chosen: string,
  start: Start,
): Promise<boolean> {
  const { session, caller, customer, status } = checkoutOf(request)
  const { productRef, sessionId } = session
  // A checkout for credits may name a product too: it sells none of its plans.
  const isForPlans = session.purpose === 'product' && productRef !== null
  if (status === 'used' || !isForPlans) return true
  const planRef = session.planRef ?? chosen
  const { cycleMode, name } = await requireProvider(pages, caller)
  const asked = { customer, productRef, planRef, cycleMode, seller: { name } }
  return commit(pages, operationOfCheckout(pages, request), async (work) => {
    if (!(await sellsPlan(work, session, planRef))) return false
    const plan = await startOf(work, asked, start)
    if (plan === undefined) return false
    // In the same transaction: a crash leaves neither the purchase nor a checkout that is used up.
    const result = { planRef, amountMinor: 0, currency: plan.currency }
    await completeCheckoutSession(work, pages.hostedUrl, sessionId, result)
    return true
  })
}

/** The plan that was taken; undefined where it cannot be. */
async function startOf(
  work: UnitOfWork,
  asked: SoldRequest,
  start: Start,
): Promise<Plan | undefined> {
  if (start === 'trial') {
    const outcome = await startTrial(work, asked)
    return outcome.kind === 'started' ? outcome.plan : undefined
  }
  const outcome = await activatePlan(work, asked)
  return outcome.kind === 'activated' || outcome.kind === 'scheduled' ? outcome.plan : undefined
}
