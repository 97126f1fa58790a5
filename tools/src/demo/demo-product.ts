import type { TollgateClient } from '@tollgate/deploy/client/tollgate-client'

const name = 'Demo traffic'
/** Small enough that busy agents meet it. */
export const demoCap = 100

/** A product of its own for the demo's traffic, made once, so that the seeded one stays as a reader found it. */
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
