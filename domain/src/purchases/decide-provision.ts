import { isAutoEnrolled, type Plan } from '../plans/plan.ts'
import { isOffered } from '../catalog/plan-offer.ts'
import type { Product } from '../catalog/products-repository.ts'
import { blocksFreePlan, givesAccess } from './access.ts'
import type { Purchase } from './repository.ts'

export type ProvisionInput = {
  readonly product: Product
  /** The product's. */
  readonly plans: readonly Plan[]
  /** The customer's deciding purchase of the product. */
  readonly last: Purchase | undefined
  /** The customer's latest purchase of the product's default plan. */
  readonly lastOfDefault: Purchase | undefined
  /** Whether no more of the product's default plan is given. */
  readonly isSoldOut: boolean
  /** Whether the customer has unpaid invoices for the product. */
  readonly hasDebts: boolean
  readonly now: Date
}

export type ProvisionDecision =
  | { readonly kind: 'has-access'; readonly purchase: Purchase }
  | { readonly kind: 'enrol'; readonly plan: Plan }
  /** With the default plan that waits for the customer's consent, if there is one. */
  | { readonly kind: 'no-purchase'; readonly awaitingPlan: Plan | undefined }

/** What a limit check without further ado comes to: access there is, access to be given, or none. */
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
  // A customer with debts is served nothing of the product until they are paid, and can activate nothing either.
  if (product.status !== 'active' || hasDebts) {
    return { kind: 'no-purchase', awaitingPlan: undefined }
  }
  const plan = defaultPlanOf(plans)
  if (plan === undefined || isSoldOut) return { kind: 'no-purchase', awaitingPlan: undefined }
  if (!isAutoEnrolled(plan)) {
    // What is hidden cannot be activated by the customer, so nothing waits for that.
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
