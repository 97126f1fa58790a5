import type { PeriodDiscount } from '../coupons/discount-lines.ts'
import type { OverridesVersion } from '../overrides/overrides.ts'
import { hasCap } from '../plans/plan-cap.ts'
import { isPack } from '../packs/pack-terms.ts'
import { renews, requiresPayment, type Plan, type PlanCore } from '../plans/plan.ts'
import { isOffered } from '../catalog/plan-offer.ts'
import { periodPriceOf, pricesIn } from '../pricing/plan-prices.ts'
import type { Product } from '../catalog/products-repository.ts'
import { blocksFreePlan, givesAccess } from './access.ts'
import {
  decideChange,
  needsNoPayment,
  tooEarlyReason,
  type PlanSwitch,
  type ScheduledChange,
} from './decide-switch.ts'
import { hasTrial } from './new-purchase.ts'
import { offerOwnPeriod, offerTo, rampPeriodsBegun } from './offered-plan.ts'
import type { Purchase } from './repository.ts'

export type ActivationInput = {
  readonly product: Product
  /** The plan to activate; undefined if the product has no such plan. */
  readonly plan: Plan | undefined
  /** The customer's purchase that decides about access to the product. */
  readonly last: Purchase | undefined
  /** The customer's latest purchase of this plan. */
  readonly lastOfPlan: Purchase | undefined
  /** Whether the customer has not paid for a purchase of the plan before, so that the set-up fee is due. */
  readonly isFirstCharge: boolean
  /** Whether the plan's quantity is sold out. */
  readonly isSoldOut: boolean
  /** Whether the customer has unpaid invoices for the product. */
  readonly hasDebts: boolean
  /** Whether the customer has a saved card that can be charged. */
  readonly hasCard: boolean
  /** What discounts took off the price of the newest period of `last`. Default: nothing. */
  readonly lastDiscounts?: readonly PeriodDiscount[]
  /** The customer's overrides of the product, oldest first. Default: none. */
  readonly overrides?: readonly OverridesVersion[]
  readonly now: Date
}

/** Answer of every path to a sold-out plan. */
export const soldOutReason = 'The plan is sold out'

/** Answer to a pack for a product of which the customer has no running plan. */
export const packAloneReason = 'A pack needs a running plan of the product'

/** Answer to a further pack for a customer with the maximum number of packs. */
export const packsFullReason = 'The customer has as many packs of the product as are allowed'

/** Reason why a free plan does not start twice in one period. */
export const freePlanHeldReason = 'The free plan was held in this period already'

/** A start of the plan without a payment, now or at a renewal. */
type UnpaidStart =
  | {
      readonly kind: 'activate'
      readonly plan: Plan
      /** The change within the current period; undefined if the plan begins a new period. */
      readonly change: PlanSwitch | undefined
    }
  | { readonly kind: 'schedule'; readonly plan: Plan; readonly change: ScheduledChange }

export type ActivationDecision =
  | UnpaidStart
  | { readonly kind: 'invalid'; readonly reason: string }
  | { readonly kind: 'already-active'; readonly purchase: Purchase }
  | {
      readonly kind: 'payment-required'
      readonly plan: Plan
      /** Whether earlier invoices for the product must be paid first. */
      readonly hasDebts: boolean
      /** The change within the current period; undefined if the payment is for a new period. */
      readonly change: PlanSwitch | undefined
    }
  /** The customer must save a card first. `start` is what happens after that. */
  | { readonly kind: 'card-required'; readonly plan: Plan; readonly start: UnpaidStart }

/**
 * Decides how a plan is activated. A plan without a payment in advance starts at once, and others go to a checkout. A customer with
 * unpaid invoices for the product must pay them first, whatever the plan. A plan that requires a saved card starts only with one. The
 * decision has the plan with the prices of the customer.
 */
export function decideActivation(input: ActivationInput): ActivationDecision {
  const { product, last, lastOfPlan, isFirstCharge, hasDebts, hasCard, now } = input
  if (product.status !== 'active') return { kind: 'invalid', reason: 'The product is not active' }
  if (input.plan === undefined || !isOffered(input.plan)) {
    return { kind: 'invalid', reason: 'The plan is not available for this product' }
  }
  const offered = offerTo(input.plan, input, now)
  const held = last !== undefined && givesAccess(last, now) ? last : undefined
  if (held?.planRef === offered.reference) return { kind: 'already-active', purchase: held }
  if (isPack(offered) && held === undefined) return { kind: 'invalid', reason: packAloneReason }
  if (input.isSoldOut) return { kind: 'invalid', reason: soldOutReason }
  // A pack changes no plan, and always has a price.
  if (hasDebts || isPack(offered)) {
    return { kind: 'payment-required', plan: offered, hasDebts, change: undefined }
  }
  const periodDiscounts = input.lastDiscounts
  const chosen = {
    held,
    plan: offered,
    isFirstCharge,
    currency: undefined,
    periodDiscounts,
    rampPeriodsBegun: rampPeriodsBegun(lastOfPlan, now),
    at: now,
  }
  const decision = decideChange(chosen)
  const plan = decision.kind === 'own-period' ? offerOwnPeriod(offered, input, now) : offered
  if (decision.kind === 'at-renewal') {
    return orCardRequired({ kind: 'schedule', plan, change: decision.change }, hasCard)
  }
  if (decision.kind === 'too-early') return { kind: 'invalid', reason: tooEarlyReason(decision) }
  const change = decision.kind === 'now' ? decision.change : undefined
  const isFree = !chargesAgain(plan) || isFreeForNow(plan)
  const needsPayment = change === undefined ? !startsUnpaid(plan, input) : !needsNoPayment(change)
  if (needsPayment) return { kind: 'payment-required', plan, hasDebts, change }
  if (isFree && lastOfPlan !== undefined && grantsPeriodTwice(plan, lastOfPlan, now)) {
    return { kind: 'invalid', reason: freePlanHeldReason }
  }
  return orCardRequired({ kind: 'activate', plan, change }, hasCard)
}

function orCardRequired(start: UnpaidStart, hasCard: boolean): ActivationDecision {
  const { plan } = start
  return hasCard || !requiresCard(plan) ? start : { kind: 'card-required', plan, start }
}

/** Returns whether the plan starts only for customers with a saved card. A plan that renews at a price does if its first period is free. */
export function requiresCard(plan: PlanCore): boolean {
  return plan.terms.requiresPaymentMethod === true || (renews(plan) && isFreeForNow(plan))
}

/** Returns whether the customer pays nothing for a period of a plan that has a price. */
function isFreeForNow(plan: PlanCore): boolean {
  return plan.listed !== undefined && periodPriceOf(plan) === 0 && periodPriceOf(plan.listed) > 0
}

/**
 * Returns whether a period of the plan starts before a payment. Usage-based plans are charged after usage, and other such plans
 * have no price. The checkout offers the trial of a plan that charges only for usage.
 */
function startsUnpaid(
  plan: Plan,
  { lastOfPlan, isFirstCharge }: Pick<ActivationInput, 'lastOfPlan' | 'isFirstCharge'>,
): boolean {
  if (plan.type === 'usage-based' || !requiresPayment(plan.listed ?? plan)) return true
  if (lastOfPlan === undefined && hasTrial(plan)) return false
  const { priceMinor = 0n, setupFeeMinor = 0n } = pricesIn(plan, plan.currency) ?? {}
  return priceMinor === 0n && !(isFirstCharge && setupFeeMinor > 0n)
}

/**
 * Returns whether another purchase of the plan, or its usage, costs anything. The set-up fee does not count, because it is charged
 * once.
 */
function chargesAgain(plan: Plan): boolean {
  return requiresPayment({ ...(plan.listed ?? plan), setupFeeMinor: null })
}

/** Returns whether a new purchase would grant again what the last purchase of the plan had in the current period. */
function grantsPeriodTwice(plan: Plan, lastOfPlan: Purchase, now: Date): boolean {
  return hasCap(plan) && blocksFreePlan(lastOfPlan, plan.reference, now)
}
