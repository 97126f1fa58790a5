import type { FastifyRequest } from 'fastify'
import { isInScope } from '@tollgate/domain/coupons/coupon'
import type { CouponFault } from '@tollgate/domain/coupons/decide-redemption'
import { redeemCoupon } from '@tollgate/domain/coupons/redeem-coupon'
import type { Customer } from '@tollgate/domain/customers/repository'
import { startDiscountedPlan } from '@tollgate/domain/purposes/start-discounted'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { generateReference } from '@tollgate/domain/unit-of-work/generate-reference'
import type { Plan } from '@tollgate/domain/plans/plan'
import { activatePlan, type ActivateAndBillRequest } from '@tollgate/domain/billing/activate-plan'
import { startTrial } from '@tollgate/domain/billing/start-trial'
import { completeCheckoutSession } from '@tollgate/domain/sessions/checkout-sessions'
import { mayCheckoutSell } from '@tollgate/domain/sessions/may-checkout-sell'
import type { UnitOfWork } from '@tollgate/domain/unit-of-work/unit-of-work'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { requireProvider } from '../../access/require.ts'
import { checkoutOf, operationOfCheckout } from './checkout.ts'
import type { Step } from './read-choice.ts'

/** How a plan starts without a payment. */
export type Start = 'activate' | 'trial' | 'discounted'

/** Returns how the plan starts after a card is saved, or undefined if the plan does not wait for a card. */
export function startAfterCard(step: Step): Start | undefined {
  if (step.kind === 'card-required') return 'activate'
  if (step.kind === 'discounted') return step.needsCard ? 'discounted' : undefined
  return step.kind === 'try' && step.needsCard ? 'trial' : undefined
}

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
  const { couponRef } = session
  const sale = { customer, productRef, planRef, cycleMode, seller: { name }, couponRef }
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
  sale: ActivateAndBillRequest & { readonly couponRef: string | null },
  start: Start,
): Promise<Plan | undefined> {
  if (start === 'discounted') return startDiscountedPlan(work, sale)
  if (start === 'trial') {
    const outcome = await startTrial(work, sale)
    if (outcome.kind !== 'started') return undefined
    await redeemForStart(work, sale, outcome.purchase, outcome.plan)
    return outcome.plan
  }
  const outcome = await activatePlan(work, sale)
  if (outcome.kind !== 'activated' && outcome.kind !== 'scheduled') return undefined
  // Until the renewal, the discount would be for the plan before.
  if (outcome.kind === 'scheduled' && sale.couponRef !== null) {
    throw new CouponRefusedError('within_period')
  }
  await redeemForStart(work, sale, outcome.purchase, outcome.plan)
  return outcome.plan
}

/** Redeems the coupon of the checkout for the invoices of the plan. One that cannot be redeemed ends the transaction. */
async function redeemForStart(
  work: UnitOfWork,
  { couponRef, customer }: { readonly couponRef: string | null; readonly customer: Customer },
  { reference: purchaseRef, productRef, currency }: Purchase,
  { reference: planRef }: Pick<Plan, 'reference'>,
): Promise<void> {
  if (couponRef === null) return
  const redemption = { couponRef, customerRef: customer.reference, purchaseRef }
  const outcome = await redeemCoupon(work, redemption, generateReference('discount'))
  if (outcome.kind === 'refused') throw new CouponRefusedError(outcome.fault)
  const sold = { productRef, planRef, currency }
  if (outcome.kind === 'redeemed' && !isInScope(outcome.discount.coupon, sold)) {
    throw new CouponRefusedError('out_of_scope')
  }
}

/** The coupon of a checkout cannot be redeemed any more, so the plan was not started. */
export class CouponRefusedError extends Error {
  override readonly name = 'CouponRefusedError'
  readonly fault: CouponFault

  constructor(fault: CouponFault) {
    super(fault)
    this.fault = fault
  }
}
