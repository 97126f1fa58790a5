import type { PaymentProcessor } from '@tollgate/platform/payments/payment-processor'
import type { TollgateClient } from '@tollgate/deploy/client/tollgate-client'

const cycle = { type: 'recurring', billingCycle: 'monthly' }

/** Stripe's test card for payments that always succeed. */
export const testCard = 'pm_card_visa'

/** Creates a customer with a free plan that renews. Returns the reference of the customer. */
export async function takeFreePlan(client: TollgateClient): Promise<string> {
  const product = await client.createProduct({ name: 'Renewed' })
  await client.createPlan(product.reference, { ...cycle, name: 'Free', price: 0, default: true })
  const customerRef = await createCustomer(client, 'taker')
  await client.checkLimit(customerRef, product.reference)
  return customerRef
}

/** Creates a customer who buys a renewing plan with a saved card. Returns the reference of the customer. */
export async function buyPlan(
  client: TollgateClient,
  processor: PaymentProcessor,
): Promise<string> {
  const { reference: productRef } = await client.createProduct({ name: 'Renewed for money' })
  const plan = await client.createPlan(productRef, { ...cycle, name: 'Pro', price: 4_900 })
  const customerRef = await createCustomer(client, 'buyer')
  const purchase = { customerRef, productRef, planRef: plan.reference }
  const created = await client.send('POST', '/v1/sdk/payment-intents', purchase, 'bought')
  const { processorPaymentId: id } = created.body as { processorPaymentId: string }
  const confirmation = { paymentMethodId: testCard, presence: 'on_session' } as const
  await processor.confirmPaymentIntent(id, confirmation, 'bought')
  const processed = await client.send('POST', `/v1/sdk/payment-intents/${id}/process`, {
    customerRef,
  })
  const { status } = processed.body as { status?: string }
  if (status !== 'succeeded')
    throw new Error(`The purchase failed: ${JSON.stringify(processed.body)}`)
  return customerRef
}

async function createCustomer(client: TollgateClient, name: string): Promise<string> {
  const fields = { email: `${name}@measured.example`, externalRef: name }
  return (await client.createCustomer(fields)).reference
}
