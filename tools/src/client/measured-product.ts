import type { TollgateClient } from '@tollgate/deploy/client/tollgate-client'

/** Far above what a run can use, so that what is left of it tells exactly what was counted. */
export const measuredCap = 1_000_000_000

export type MeasuredProduct = {
  readonly productRef: string
  readonly meterRef: string
  readonly customerRefs: readonly string[]
}

/** A product with its free plan, and customers of which half are counted under our own reference, half under theirs. */
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
