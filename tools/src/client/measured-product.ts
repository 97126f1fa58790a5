import type { TollgateClient } from '@tollgate/deploy/client/tollgate-client'

/** Cap of the plan. No run reaches it, so the remaining units show exactly what was counted. */
export const measuredCap = 1_000_000_000

export type MeasuredProduct = {
  readonly productRef: string
  readonly meterRef: string
  readonly customerRefs: readonly string[]
}

/**
 * Creates a product with a free plan, and customers. Half of them are used by their Tollgate reference, the other half by their
 * external reference.
 */
export async function createMeasuredProduct(
  client: TollgateClient,
  run: string,
  customers: number,
): Promise<MeasuredProduct> {
  const product = await client.createProduct({ name: `Measured ${run}` })
  await client.createPlan(product.reference, {
    name: 'Free',
    type: 'recurring',
    billingCycle: 'monthly',
    price: 0,
    limit: measuredCap,
    default: true,
  })
  const customerRefs: string[] = []
  for (let number = 0; number < customers; number++) {
    const externalRef = `customer_${run}_${number}`
    const email = `${externalRef}@measured.example`
    const customer = await client.createCustomer({ email, externalRef })
    customerRefs.push(number % 2 === 0 ? externalRef : customer.reference)
  }
  const meterRef = await client.requestsMeter()
  return { productRef: product.reference, meterRef, customerRefs }
}
