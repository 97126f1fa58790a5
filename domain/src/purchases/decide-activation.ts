import { requiresPayment, type Plan } from '../plans/plan.ts'
import { isOffered } from '../plans/plan-offer.ts'
import type { Product } from '../products/repository.ts'
import { blocksFreePlan, givesAccess } from './access.ts'
import type { Purchase } from './repository.ts'

export type ActivationInput = {
  readonly product: Product
  /** Undefined: the product has no such plan. */
  readonly plan: Plan | undefined
  /** The customer's deciding purchase of the product. */
  readonly last: Purchase | undefined
  /** The customer's latest purchase of this very plan. */
  readonly lastOfPlan: Purchase | undefined
  readonly now: Date
}

export type ActivationDecision =
  | { readonly kind: 'invalid'; readonly reason: string }
  | { readonly kind: 'already-active'; readonly purchase: Purchase }
  | { readonly kind: 'payment-required'; readonly plan: Plan }
  /** With the purchase that ends by it. */
  | { readonly kind: 'activate'; readonly plan: Plan; readonly replaced: Purchase | undefined }
  /** The free plan was left in this period; taken again, it goes on with what was used of it. */
  | {
      readonly kind: 'resume'
      readonly plan: Plan
      readonly purchase: Purchase
      readonly replaced: Purchase | undefined
    }

/** What activating a plan comes to: what needs no payment beforehand starts at once, everything else goes to checkout. */
export function decideActivation(input: ActivationInput): ActivationDecision {
  const { product, plan, last, lastOfPlan, now } = input
  if (product.status !== 'active') return { kind: 'invalid', reason: 'The product is not active' }
  if (plan === undefined || !isOffered(plan)) {
    return { kind: 'invalid', reason: 'The plan is not available for this product' }
  }
  const held = last !== undefined && givesAccess(last, now) ? last : undefined
  if (held?.planRef === plan.reference) return { kind: 'already-active', purchase: held }
  const isFree = !requiresPayment(plan)
  if (!isFree && plan.type !== 'usage-based') return { kind: 'payment-required', plan }
  if (isFree && lastOfPlan !== undefined && blocksFreePlan(lastOfPlan, plan.reference, now)) {
    return { kind: 'resume', plan, purchase: lastOfPlan, replaced: held }
  }
  return { kind: 'activate', plan, replaced: held }
}
