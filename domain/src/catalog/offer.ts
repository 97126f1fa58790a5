import type { PublishedOffer } from '@tollgate/schemas/hot-state/documents'
import { isOffered, planOffer } from './plan-offer.ts'
import type { Plan } from '../plans/plan.ts'
import type { Product } from './products-repository.ts'

/** What a customer without access may be shown. A product that is not active has nothing to offer. */
export function offerOf(product: Product, plans: readonly Plan[]): PublishedOffer {
  const offered = product.status === 'active' ? plans.filter(isOffered) : []
  return {
    product: { reference: product.reference, name: product.name },
    plans: offered.map(planOffer),
  }
}
