import { effectiveCap } from '../plans/plan-cap.ts'
import { requiresPayment, type Plan } from '../plans/plan.ts'
import { isOffered } from '../catalog/plan-offer.ts'
import { pricesIn } from '../pricing/plan-prices.ts'
import type { Product } from '../catalog/products-repository.ts'
import { blocksFreePlan, givesAccess } from './access.ts'
import {
  decideChange,
  needsNoPayment,
  tooEarly,
  type PlanSwitch,
  type ScheduledChange,
} from './decide-switch.ts'
import { hasTrial } from './new-purchase.ts'
import type { Purchase } from './repository.ts'

export type ActivationInput = {
  readonly product: Product
  /** Undefined: the product has no such plan. */
  readonly plan: Plan | undefined
  /** The customer's deciding purchase of the product. */
  readonly last: Purchase | undefined
  /** The customer's latest purchase of this very plan. */
  readonly lastOfPlan: Purchase | undefined
  /** Whether the customer has paid for no purchase of the plan: its set-up fee is due. */
  readonly isFirstCharge: boolean
  /** Whether no more of the plan is sold. */
  readonly isSoldOut: boolean
  /** Whether the customer has unpaid invoices for the product. */
  readonly hasDebts: boolean
  /** Whether the customer has a saved card that may be charged. */
  readonly hasCard: boolean
  readonly now: Date
}

/** What each way to a plan answers whose last one is sold. */
export const soldOut = 'The plan is sold out'

/** Why a free plan is not given twice in one period. */
export const heldAlready = 'The free plan was held in this period already'

/** The plan starts without a payment, now or with the next renewal. */
type Start =
  | {
      readonly kind: 'activate'
      readonly plan: Plan
      /** Undefined: it begins a period of its own. */
      readonly change: PlanSwitch | undefined
    }
  | { readonly kind: 'schedule'; readonly plan: Plan; readonly change: ScheduledChange }

export type ActivationDecision =
  | Start
  | { readonly kind: 'invalid'; readonly reason: string }
  | { readonly kind: 'already-active'; readonly purchase: Purchase }
  | {
      readonly kind: 'payment-required'
      readonly plan: Plan
      /** Earlier invoices for the product are paid first. */
      readonly hasDebts: boolean
      /** Undefined: it is paid for a period of its own. */
      readonly change: PlanSwitch | undefined
    }
  /** The customer saves a card first; `start` is what comes then. */
  | { readonly kind: 'card-required'; readonly plan: Plan; readonly start: Start }

/**
 * What activating a plan comes to: what needs no payment beforehand starts at once, everything else goes to checkout. A
 * customer with unpaid invoices for the product pays them first, whatever the plan. A plan that requires a saved card starts
 * only with one.
 */
export function decideActivation(input: ActivationInput): ActivationDecision {
  const { product, plan, last, lastOfPlan, isFirstCharge, hasDebts, hasCard, now } = input
  if (product.status !== 'active') return { kind: 'invalid', reason: 'The product is not active' }
  if (plan === undefined || !isOffered(plan)) {
    return { kind: 'invalid', reason: 'The plan is not available for this product' }
  }
  const held = last !== undefined && givesAccess(last, now) ? last : undefined
  if (held?.planRef === plan.reference) return { kind: 'already-active', purchase: held }
  if (input.isSoldOut) return { kind: 'invalid', reason: soldOut }
  if (hasDebts) return { kind: 'payment-required', plan, hasDebts, change: undefined }
  const decision = decideChange({ held, plan, isFirstCharge, currency: undefined, at: now })
  if (decision.kind === 'at-renewal') {
    return withCard({ kind: 'schedule', plan, change: decision.change }, hasCard)
  }
  if (decision.kind === 'too-early') return { kind: 'invalid', reason: tooEarly(decision) }
  const change = decision.kind === 'now' ? decision.change : undefined
  const isFree = !chargesAgain(plan)
  const needsPayment = change === undefined ? !startsUnpaid(plan, input) : !needsNoPayment(change)
  if (needsPayment) return { kind: 'payment-required', plan, hasDebts, change }
  if (isFree && lastOfPlan !== undefined && givesTwice(plan, lastOfPlan, now)) {
    return { kind: 'invalid', reason: heldAlready }
  }
  return withCard({ kind: 'activate', plan, change }, hasCard)
}

function withCard(start: Start, hasCard: boolean): ActivationDecision {
  const { plan } = start
  return hasCard || !requiresCard(plan) ? start : { kind: 'card-required', plan, start }
}

/** Whether the plan starts only for customers with a saved card. */
export function requiresCard({ terms }: Pick<Plan, 'terms'>): boolean {
  return terms.requiresPaymentMethod === true
}

/**
 * Whether a period of the plan starts before anything is paid: usage-based plans are paid as they are used, others have no
 * price. The trial of a plan that charges for usage alone is offered by the checkout.
 */
function startsUnpaid(
  plan: Plan,
  { lastOfPlan, isFirstCharge }: Pick<ActivationInput, 'lastOfPlan' | 'isFirstCharge'>,
): boolean {
  if (plan.type === 'usage-based' || !requiresPayment(plan)) return true
  if (lastOfPlan === undefined && hasTrial(plan)) return false
  const { priceMinor = 0n, setupFeeMinor = 0n } = pricesIn(plan, plan.currency) ?? {}
  return priceMinor === 0n && !(isFirstCharge && setupFeeMinor > 0n)
}

/** Whether another purchase of the plan, or its usage, costs anything. Its set-up fee does not: that is paid once. */
function chargesAgain(plan: Plan): boolean {
  return requiresPayment({ ...plan, setupFeeMinor: null })
}

/** Whether a new purchase would hand out again what the last one of the plan has had in the period that runs. */
function givesTwice(plan: Plan, lastOfPlan: Purchase, now: Date): boolean {
  return effectiveCap(plan) !== null && blocksFreePlan(lastOfPlan, plan.reference, now)
}
