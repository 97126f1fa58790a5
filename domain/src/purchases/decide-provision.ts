import { isAutoEnrolled, type Plan } from '../plans/plan.ts'
import { isOffered } from '../catalog/plan-offer.ts'
import type { Product } from '../catalog/products-repository.ts'
import { blocksFreePlan, givesAccess } from './access.ts'
import type { Purchase } from './repository.ts'

export type ProvisionInput = {
  readonly product: Product
  /** The plans of the product. */
  readonly plans: readonly Plan[]
  /** The customer's purchase that decides about access to the product. */
  readonly last: Purchase | undefined
  /** The customer's latest purchase of the product's default plan. */
  readonly lastOfDefault: Purchase | undefined
  /** Whether the default plan's quantity is sold out. */
  readonly isSoldOut: boolean
  /** Whether the customer has unpaid invoices for the product. */
  readonly hasDebts: boolean
  readonly now: Date
}

export type ProvisionDecision =
  | { readonly kind: 'has-access'; readonly purchase: Purchase }
  | { readonly kind: 'enrol'; readonly plan: Plan }
  /** `awaitingPlan`: the default plan, if the customer has to activate it. */
  | { readonly kind: 'no-purchase'; readonly awaitingPlan: Plan | undefined }

/** Decides what a limit check of a customer finds: existing access, a default plan to start now, or no access. */
export function decideProvision({
  product,
  plans,
  last,
  lastOfDefault,
  isSoldOut,
  hasDebts,
  now,
}: ProvisionInput): ProvisionDecision {
  if (last !== undefined && givesAccess(last, now)) return { kind: 'has-access', purchase: last }
  // A customer with unpaid invoices gets no access to the product, and cannot activate a plan either.
  if (product.status !== 'active' || hasDebts) {
    return { kind: 'no-purchase', awaitingPlan: undefined }
  }
  const plan = defaultPlanOf(plans)
  if (plan === undefined || isSoldOut) return { kind: 'no-purchase', awaitingPlan: undefined }
  if (!isAutoEnrolled(plan)) {
    // Customers cannot activate a hidden plan, so it is not offered.
    return { kind: 'no-purchase', awaitingPlan: isOffered(plan) ? plan : undefined }
  }
  if (lastOfDefault !== undefined && blocksFreePlan(lastOfDefault, plan.reference, now)) {
    return { kind: 'no-purchase', awaitingPlan: undefined }
  }
  return { kind: 'enrol', plan }
}

export function defaultPlanOf(plans: readonly Plan[]): Plan | undefined {
  return plans.find((each) => each.isDefault && each.status === 'active')
}
