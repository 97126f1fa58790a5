import type { PlanOffer, PublishedOffer } from '@tollgate/schemas/hot-state/documents'
import { type Plan, requiresPayment } from '../plans/plan.ts'
import type { Product } from './products-repository.ts'

/** Returns whether the plan may be shown to customers. */
export function isOffered(plan: Plan): boolean {
  return plan.status === 'active' && !plan.hidden
}

/** Returns the plan as a limit check shows it to a customer who needs a plan. */
export function planOffer(plan: Plan): PlanOffer {
  const { freeUnits, creditsPerUnit, billingModel, billingCycle, pricingOptions, pack } = plan.terms
  return {
    reference: plan.reference,
    name: plan.name,
    type: plan.type,
    price: plan.priceMinor,
    currency: plan.currency,
    requiresPayment: requiresPayment(plan),
    ...(freeUnits === undefined ? {} : { freeUnits }),
    ...(creditsPerUnit === undefined ? {} : { creditsPerUnit }),
    ...(billingModel === undefined ? {} : { billingModel }),
    ...(billingCycle === undefined ? {} : { billingCycle }),
    ...(pack === undefined ? {} : { pack }),
    ...(pricingOptions === undefined ? {} : { pricingOptions: pricingOptions.map(offeredOption) }),
  }
}

function offeredOption(option: NonNullable<Plan['terms']['pricingOptions']>[number]) {
  return {
    currency: option.currency,
    price: option.price,
    ...(option.basePrice === undefined ? {} : { basePrice: option.basePrice }),
    ...(option.setupFee === undefined ? {} : { setupFee: option.setupFee }),
    ...(option.default === undefined ? {} : { default: option.default }),
  }
}

/** Returns the offer for a customer without access. An inactive product offers no plans. */
export function offerOf(product: Product, plans: readonly Plan[]): PublishedOffer {
  const offered = product.status === 'active' ? plans.filter(isOffered) : []
  return {
    product: { reference: product.reference, name: product.name },
    plans: offered.map(planOffer),
  }
}
