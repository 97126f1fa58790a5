import type { Environment } from '@tollgate/schemas/environment'
import type { Seller } from './installation.ts'
import { planBody, products, type ModelPlan } from './model/plans.ts'

export type OfferedPlan = {
  readonly productRef: string
  readonly planRef: string
  readonly plan: ModelPlan
}

/** The plans that a seller offers in one environment, by product name. */
export type Offers = Readonly<Record<string, readonly OfferedPlan[]>>

export async function openOffers(seller: Seller, environment: Environment): Promise<Offers> {
  const client = seller.clients[environment]
  const offers: Record<string, OfferedPlan[]> = {}
  for (const [name, plans] of Object.entries(products)) {
    const { reference: productRef } = await client.createProduct({ name })
    offers[name] = []
    for (const plan of plans) {
      const { reference: planRef } = await client.createPlan(productRef, planBody(plan))
      offers[name].push({ productRef, planRef, plan })
    }
  }
  return offers
}
