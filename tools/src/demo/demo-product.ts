import type { TollgateClient } from '@tollgate/deploy/client/tollgate-client'

const name = 'Demo traffic'
/** Small enough that busy agents reach it. */
export const demoCap = 100

/**
 * Returns the product for the demo's traffic, and creates it once. It is separate from the seeded product, so that the demo does
 * not change that one.
 */
export async function findOrCreateDemoProduct(client: TollgateClient): Promise<string> {
  const product =
    (await client.findProduct(name)) ??
    (await client.createProduct({ name, description: 'Filled by npm run demo' }))
  if ((await client.listPlans(product.reference)).length === 0) {
    await client.createPlan(product.reference, {
      name: 'Free',
      type: 'recurring',
      billingCycle: 'monthly',
      price: 0,
      limit: demoCap,
      default: true,
    })
  }
  return product.reference
}
