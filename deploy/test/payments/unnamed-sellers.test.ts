import { afterAll, expect, test } from 'vitest'
import type { PaymentIntentBody } from '@tollgate/schemas/http/payment-intents'
import { eventually, PaymentStack } from './payment-stack.ts'

/* Payments from before payments stored the seller. Their invoices must still name the seller. */

const withoutWebhooks = await PaymentStack.start({
  settings: { TOLLGATE_PAYMENTS_INTERVAL_MS: '3600000' },
})
const withWebhooks = await PaymentStack.start({ hasWebhooks: true })
afterAll(async () => {
  await withoutWebhooks.stop()
  await withWebhooks.stop()
})

async function begin(payments: PaymentStack, customerRef: string): Promise<PaymentIntentBody> {
  const request = { customerRef, purpose: 'credit_topup', amount: 1000, currency: 'USD' }
  const { body } = await payments.createIntent(`old-${customerRef}`, request)
  await payments.sql`update payment_intents set seller_name = null`
  return body
}

async function sellerOf(payments: PaymentStack, customerRef: string): Promise<string | undefined> {
  const [invoice] = await payments.sql<{ name: string }[]>`
    select parties -> 'seller' ->> 'name' as name from invoices where customer_ref = ${customerRef}`
  return invoice?.name
}

async function providerOf({ stack, tenant }: PaymentStack): Promise<string> {
  const [provider] = await stack.database.control<{ name: string }[]>`
    select name from providers where provider_id = ${tenant.providerId}`
  return provider!.name
}

test('names the seller when the customer returns', async () => {
  const customerRef = await withoutWebhooks.createCustomer()
  const { processorPaymentId } = await begin(withoutWebhooks, customerRef)
  await withoutWebhooks.confirm(processorPaymentId)
  expect((await withoutWebhooks.process(processorPaymentId, customerRef)).status).toBe(200)
  expect(await sellerOf(withoutWebhooks, customerRef)).toBe(await providerOf(withoutWebhooks))
})

test('names the seller when only a webhook arrives', async () => {
  const customerRef = await withWebhooks.createCustomer()
  const { processorPaymentId } = await begin(withWebhooks, customerRef)
  await withWebhooks.confirm(processorPaymentId)
  const name = await providerOf(withWebhooks)
  await eventually(async () => expect(await sellerOf(withWebhooks, customerRef)).toBe(name))
})

test('names the seller if the outcome of the creating call is unknown', async () => {
  const customerRef = await withWebhooks.createCustomer()
  const fault = { kind: 'error_after', method: 'POST', path: '/v1/payment_intents' }
  await withWebhooks.simulate('faults', fault)
  const { processorPaymentId } = await begin(withWebhooks, customerRef)
  expect(processorPaymentId).toBeUndefined()
  const request = { customerRef, purpose: 'credit_topup', amount: 1000, currency: 'USD' }
  await eventually(async () => {
    const again = await withWebhooks.createIntent(`old-${customerRef}`, request)
    expect(again.status).toBe(201)
    await withWebhooks.confirm(again.body.processorPaymentId)
  })
  const name = await providerOf(withWebhooks)
  await eventually(async () => expect(await sellerOf(withWebhooks, customerRef)).toBe(name))
})
