import { isOffered } from '@tollgate/domain/plans/plan-offer'
import { requiresPayment, type Plan } from '@tollgate/domain/plans/plan'
import { listPlans } from '@tollgate/domain/plans/repository'
import { findProduct, type Product } from '@tollgate/domain/products/repository'
import { givesAccess } from '@tollgate/domain/purchases/access'
import {
  decideActivation,
  type ActivationDecision,
} from '@tollgate/domain/purchases/decide-activation'
import {
  findDecidingPurchase,
  findLastOfPlan,
  type Purchase,
} from '@tollgate/domain/purchases/repository'
import { hasTrial } from '@tollgate/domain/purchases/new-purchase'
import { mayTry } from '@tollgate/domain/purchases/start-trial'
import { read } from '../../http/read.ts'
import type { PageParts } from '../frame.ts'
import type { Checkout } from './checkout.ts'

/** What a customer can choose from. */
export type Choice = {
  readonly product: Product
  readonly plans: readonly Plan[]
  /** Which of them the customer can try before paying, by reference. */
  readonly triable: ReadonlySet<string>
  /** What the customer has of the product now. */
  readonly held: Purchase | undefined
}

/** Undefined where nothing is for sale any more. */
export function readChoice(
  pages: PageParts,
  { caller, customer, session }: Checkout,
): Promise<Choice | undefined> {
  const { providerId } = caller
  const { productRef } = session
  const now = new Date(pages.clock.now())
  return read(pages, caller, async (sql) => {
    const product = productRef === null ? undefined : await findProduct(sql, providerId, productRef)
    if (product?.status !== 'active') return undefined
    const plans = (await listPlans(sql, providerId, [product.reference]))
      .filter(isOffered)
      .sort(cheapestFirst)
    const last = await findDecidingPurchase(sql, providerId, customer.reference, product.reference)
    const held = last !== undefined && givesAccess(last, now) ? last : undefined
    const triable = new Set<string>()
    for (const plan of plans.filter(hasTrial)) {
      const of = { customerRef: customer.reference, productRef: product.reference }
      const lastOfPlan = await findLastOfPlan(sql, providerId, { ...of, planRef: plan.reference })
      if (mayTry({ product, plan, last, lastOfPlan, now })) triable.add(plan.reference)
    }
    return { product, plans, triable, held }
  })
}

function cheapestFirst(one: Plan, other: Plan): number {
  const byPayment = Number(requiresPayment(one)) - Number(requiresPayment(other))
  const byPrice = one.priceMinor - other.priceMinor
  return byPayment || byPrice || one.name.localeCompare(other.name)
}

/** What taking a plan comes to. */
export type Step =
  | Exclude<ActivationDecision, { kind: 'payment-required' }>
  | { readonly kind: 'try'; readonly plan: Plan }
  /** `isFirst`: the set-up fee is due with it. */
  | { readonly kind: 'payment-required'; readonly plan: Plan; readonly isFirst: boolean }

/** As far as it can be said beforehand: whoever takes the plan has it decided again. */
export function readStep(
  pages: PageParts,
  { caller, customer }: Checkout,
  { product, plans, triable }: Choice,
  planRef: string,
): Promise<Step> {
  const { providerId } = caller
  const of = { customerRef: customer.reference, productRef: product.reference, planRef }
  const plan = plans.find(({ reference }) => reference === planRef)
  const now = new Date(pages.clock.now())
  return read(pages, caller, async (sql): Promise<Step> => {
    const last = await findDecidingPurchase(sql, providerId, customer.reference, product.reference)
    const lastOfPlan = await findLastOfPlan(sql, providerId, of)
    const input = { product, plan, last, lastOfPlan, now }
    if (plan !== undefined && triable.has(planRef)) return { kind: 'try', plan }
    const decision = decideActivation(input)
    if (decision.kind !== 'payment-required') return decision
    return { ...decision, isFirst: lastOfPlan === undefined }
  })
}
