import { effectiveCap } from '../plans/plan-cap.ts'
import { requiresPayment, type Plan } from '../plans/plan.ts'
import { isOffered } from '../plans/plan-offer.ts'
import type { Product } from '../products/repository.ts'
import { blocksFreePlan, givesAccess } from './access.ts'
import { decideSwitch, needsNoPayment, type PlanSwitch } from './decide-switch.ts'
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
  | {
      readonly kind: 'payment-required'
      readonly plan: Plan
      /** Undefined: it is paid for a period of its own. */
      readonly change: PlanSwitch | undefined
    }
  | {
      readonly kind: 'activate'
      readonly plan: Plan
      /** Undefined: it begins a period of its own. */
      readonly change: PlanSwitch | undefined
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
  const isFirst = lastOfPlan === undefined
  const change = decideSwitch({ held, plan, isFirst, currency: undefined, at: now })
  const needsPayment =
    change === undefined ? !isFree && plan.type !== 'usage-based' : !needsNoPayment(change)
  if (needsPayment) return { kind: 'payment-required', plan, change }
  if (isFree && lastOfPlan !== undefined && givesTwice(plan, lastOfPlan, now)) {
    return { kind: 'invalid', reason: 'The free plan was held in this period already' }
  }
  return { kind: 'activate', plan, change }
}

/** Whether a new purchase would hand out again what the last one of the plan has had in the period that runs. */
function givesTwice(plan: Plan, lastOfPlan: Purchase, now: Date): boolean {
  return effectiveCap(plan) !== null && blocksFreePlan(lastOfPlan, plan.reference, now)
}
