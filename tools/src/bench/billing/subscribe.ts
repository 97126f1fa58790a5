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
  const asked = { customerRef, productRef, planRef: plan.reference }
  const made = await client.send('POST', '/v1/sdk/payment-intents', asked, 'bought')
  const { processorPaymentId: id } = made.body as { processorPaymentId: string }
  const confirmation = { paymentMethodId: testCard, presence: 'on_session' } as const
  await processor.confirmPaymentIntent(id, confirmation, 'bought')
  const done = await client.send('POST', `/v1/sdk/payment-intents/${id}/process`, { customerRef })
  const { status } = done.body as { status?: string }
  if (status !== 'succeeded') throw new Error(`Not bought: ${JSON.stringify(done.body)}`)
  return customerRef
}

async function createCustomer(client: TollgateClient, name: string): Promise<string> {
  const fields = { email: `${name}@measured.example`, externalRef: name }
  return (await client.createCustomer(fields)).reference
}
