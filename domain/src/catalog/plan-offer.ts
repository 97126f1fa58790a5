import type {
  OfferedCharge,
  PlanOffer,
  PublishedOffer,
} from '@tollgate/schemas/hot-state/documents'
import type { Charge } from '@tollgate/schemas/http/charges'
import { chargeKey } from '../plans/charge-key.ts'
import { type Plan, requiresPayment } from '../plans/plan.ts'
import type { Product } from './products-repository.ts'

/** Returns whether the plan may be shown to customers. */
export function isOffered(plan: Plan): boolean {
  return plan.status === 'active' && !plan.hidden
}

/** Returns the plan as a limit check shows it to a customer who needs a plan. */
export function planOffer(plan: Plan): PlanOffer {
  const { freeUnits, creditsPerUnit, billingModel, billingCycle, pricingOptions, charges, pack } =
    plan.terms
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
    ...(charges === undefined ? {} : { charges: charges.map(offeredCharge) }),
  }
}

function offeredCharge(charge: Charge): OfferedCharge {
  const { meter, model, displayName, price, creditsPerUnit, unitsPerPackage } = charge
  const { included = 0, cap = 0 } = charge
  return {
    charge: chargeKey(charge),
    meterName: meter,
    model,
    ...(displayName === undefined ? {} : { displayName }),
    ...(price === undefined ? {} : { price }),
    ...(creditsPerUnit === undefined ? {} : { creditsPerUnit }),
    ...(unitsPerPackage === undefined ? {} : { unitsPerPackage }),
    ...(included === 0 ? {} : { included }),
    ...(cap === 0 ? {} : { cap }),
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
