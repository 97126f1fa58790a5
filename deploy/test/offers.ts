import type { TollgateClient } from '../src/client/tollgate-client.ts'

/** Creates a product whose free default plan allows `limit` units per month. */
export async function createCappedProduct(client: TollgateClient, limit: number): Promise<string> {
  const { reference } = await client.createProduct({ name: `Capped at ${limit}` })
  await client.createPlan(reference, {
    name: 'Free',
    type: 'recurring',
    billingCycle: 'monthly',
    price: 0,
    limit,
    default: true,
  })
  return reference
}

let customers = 0

export async function createCustomer(
  client: TollgateClient,
  externalRef?: string,
): Promise<string> {
  const email = `customer${customers++}@test.example`
  const { reference } = await client.createCustomer({ email, ...(externalRef && { externalRef }) })
  return reference
}
