import { isOffered } from '@tollgate/domain/catalog/plan-offer'
import type { PeriodDiscount } from '@tollgate/domain/coupons/discount-lines'
import { isPack } from '@tollgate/domain/packs/pack-terms'
import { isSoldOut } from '@tollgate/domain/plans/sold-out'
import { requiresPayment, type Plan } from '@tollgate/domain/plans/plan'
import type { OverridesVersion } from '@tollgate/domain/overrides/overrides'
import { priceStepsAhead, type PriceStep } from '@tollgate/domain/overrides/price-steps'
import { findOverrides } from '@tollgate/domain/overrides/repository'
import { listPlans } from '@tollgate/domain/catalog/plans-repository'
import { findProduct, type Product } from '@tollgate/domain/catalog/products-repository'
import { periodAt } from '@tollgate/domain/periods/periods'
import { cycleOf, givesAccess } from '@tollgate/domain/purchases/access'
import {
  decideActivation,
  requiresCard,
  type ActivationDecision,
} from '@tollgate/domain/purchases/decide-activation'
import { offerOwnPeriod, offerTo } from '@tollgate/domain/purchases/offered-plan'
import { readActivationState } from '@tollgate/domain/purchases/read-activation-state'
import {
  findDecidingPurchase,
  findLastOfPlan,
  type Purchase,
} from '@tollgate/domain/purchases/repository'
import { mayBoundCheckoutSell } from '@tollgate/domain/sessions/bound-checkout'
import { hasTrial } from '@tollgate/domain/purchases/new-purchase'
import {
  findDiscountedStart,
  type DiscountedStart,
} from '@tollgate/domain/purposes/start-discounted'
import { canStartTrial } from '@tollgate/domain/billing/start-trial'
import type { Clock } from '@tollgate/platform/clock/clock'
import { trialEnd } from '@tollgate/domain/pricing/trial'
import { read, type ReadParts } from '../../access/read.ts'
import { requireProvider } from '../../access/require.ts'
import type { Checkout } from './checkout.ts'

/** The plans that a customer can choose from. */
export type Choice = {
  readonly product: Product
  readonly plans: readonly Plan[]
  /** References of the plans that the customer can try before paying. */
  readonly triable: ReadonlySet<string>
  /** References of the plans that are sold out. */
  readonly soldOut: ReadonlySet<string>
  /** The customer's current purchase of the product. */
  readonly held: Purchase | undefined
  /** The customer's overrides of the product. The plans have the prices of a period that begins now. */
  readonly overrides: readonly OverridesVersion[]
  /** Later prices of each plan that starts now, by its reference. */
  readonly steps: ReadonlyMap<string, readonly PriceStep<Plan>[]>
}

/** Returns undefined if nothing is for sale any longer. */
export async function readChoice(
  pages: ReadParts & { readonly clock: Clock },
  { caller, customer, session }: Checkout,
): Promise<Choice | undefined> {
  const { providerId } = caller
  const { productRef } = session
  const now = new Date(pages.clock.now())
  const { cycleMode } = await requireProvider(pages, caller)
  return read(pages, caller, async (sql) => {
    const product = productRef === null ? undefined : await findProduct(sql, providerId, productRef)
    if (product?.status !== 'active') return undefined
    const ofProduct = { customerRef: customer.reference, productRef: product.reference }
    const last = await findDecidingPurchase(sql, providerId, customer.reference, product.reference)
    const held = last !== undefined && givesAccess(last, now) ? last : undefined
    const overrides = await findOverrides(sql, providerId, customer.reference, product.reference)
    const listed = (await listPlans(sql, providerId, [product.reference])).filter(isOffered)
    const offered = await Promise.all(
      listed.map(async (plan) => {
        const ofPlan = { ...ofProduct, planRef: plan.reference }
        const lastOfPlan = await findLastOfPlan(sql, providerId, ofPlan)
        const offer = beginsOwnPeriod(plan, held) ? offerOwnPeriod : offerTo
        return offer(plan, { last, lastOfPlan, overrides }, now)
      }),
    )
    const plans = offered
      .filter((plan) => session.mayChangePlan || mayBoundCheckoutSell(plan, last, now))
      .filter((plan) => held !== undefined || !isPack(plan))
      .sort(cheapestFirst)
    const triable = new Set<string>()
    const soldOut = new Set<string>()
    for (const plan of plans) {
      if (await isSoldOut(sql, providerId, plan, customer.reference)) soldOut.add(plan.reference)
    }
    for (const plan of plans.filter(hasTrial)) {
      const ofPlan = { ...ofProduct, planRef: plan.reference }
      const state = await readActivationState(sql, providerId, ofPlan)
      const input = { product, plan, ...state, isSoldOut: soldOut.has(plan.reference), now }
      if (canStartTrial(input)) triable.add(plan.reference)
    }
    const steps = new Map(
      plans.map((plan) => {
        const trialEndsAt = triable.has(plan.reference) && trialEnd(plan.terms.trialDays, now)
        const begins = trialEndsAt || beginOf(plan, held, now)
        return [plan.reference, priceStepsAhead(plan, overrides, { begins, mode: cycleMode })]
      }),
    )
    return { product, plans, triable, soldOut, held, overrides, steps }
  })
}

/** Returns the start of the first period of a plan that the customer takes now. A change can continue the running period. */
function beginOf(plan: Plan, held: Purchase | undefined, now: Date): Date {
  const cycle = held && cycleOf(held)
  return cycle === undefined || beginsOwnPeriod(plan, held) ? now : periodAt(cycle, now).start
}

/** Returns whether a plan that the customer takes now begins a new period. The plan that the customer has does not. */
function beginsOwnPeriod({ reference, terms }: Plan, held: Purchase | undefined): boolean {
  if (held === undefined) return true
  if (held.planRef === reference) return false
  return terms.prorationPolicy === 'full' || cycleOf(held)?.billingCycle !== terms.billingCycle
}

function cheapestFirst(one: Plan, other: Plan): number {
  const byPayment = Number(requiresPayment(one)) - Number(requiresPayment(other))
  const byPrice = one.priceMinor - other.priceMinor
  return byPayment || byPrice || one.name.localeCompare(other.name)
}

/** What happens when the customer takes a plan. */
export type Step =
  | Exclude<ActivationDecision, { kind: 'payment-required' }>
  /** `needsCard` means that the customer must save a card first. */
  | { readonly kind: 'try'; readonly plan: Plan; readonly needsCard: boolean }
  /** Discounts leave nothing of the price, or too little to charge. */
  | ({ readonly kind: 'discounted' } & DiscountedStart)
  /** `isFirstCharge` means that the set-up fee is due with it. */
  | {
      readonly kind: 'payment-required'
      readonly plan: Plan
      readonly isFirstCharge: boolean
      readonly periodDiscounts: readonly PeriodDiscount[]
    }

/** Predicts what happens when the customer takes the plan. The form that takes the plan decides again, in its own transaction. */
export function readStep(
  pages: ReadParts & { readonly clock: Clock },
  { caller, customer, session }: Checkout,
  { product, plans, triable, soldOut }: Choice,
  planRef: string,
): Promise<Step> {
  const { providerId } = caller
  const of = { customerRef: customer.reference, productRef: product.reference, planRef }
  const plan = plans.find(({ reference }) => reference === planRef)
  const now = new Date(pages.clock.now())
  return read(pages, caller, async (sql): Promise<Step> => {
    const state = await readActivationState(sql, providerId, of)
    if (plan !== undefined && triable.has(planRef)) {
      return { kind: 'try', plan, needsCard: requiresCard(plan) && !state.hasCard }
    }
    const input = { product, plan, ...state, isSoldOut: soldOut.has(planRef), now }
    const decision = decideActivation(input)
    if (decision.kind !== 'payment-required') return decision
    const { reference: customerRef } = customer
    const at = { sql, providerId, now }
    const discounted = await findDiscountedStart(at, input, customerRef, session.couponRef)
    if (discounted !== undefined) return { kind: 'discounted', ...discounted }
    const { isFirstCharge, lastDiscounts: periodDiscounts = [] } = state
    return { ...decision, isFirstCharge, periodDiscounts }
  })
}
