import type { PublishedOffer } from '@tollgate/schemas/hot-state/documents'
import { isOffered, planOffer } from './plan-offer.ts'
import type { Plan } from '../plans/plan.ts'
import type { Product } from './products-repository.ts'

/** Returns the offer for a customer without access. An inactive product offers no plans. */
export function offerOf(product: Product, plans: readonly Plan[]): PublishedOffer {
  const offered = product.status === 'active' ? plans.filter(isOffered) : []
  return {
    product: { reference: product.reference, name: product.name },
    plans: offered.map(planOffer),
  }
}
