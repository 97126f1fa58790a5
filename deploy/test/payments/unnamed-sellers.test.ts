import { afterAll, expect, test } from 'vitest'
import type { PaymentIntentBody } from '@tollgate/schemas/http/payment-intents'
import { eventually, PaymentStack } from './payment-stack.ts'

/* Payments from before payments stored the seller. Their invoices must still name the seller. */

const quiet = await PaymentStack.start({ settings: { TOLLGATE_PAYMENTS_INTERVAL_MS: '3600000' } })
const told = await PaymentStack.start({ hasWebhooks: true })
afterAll(async () => {
  await quiet.stop()
  await told.stop()
})

async function begin(payments: PaymentStack, customerRef: string): Promise<PaymentIntentBody> {
  const asked = { customerRef, purpose: 'credit_topup', amount: 1000, currency: 'USD' }
  const { body } = await payments.createIntent(`old-${customerRef}`, asked)
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
  const customerRef = await quiet.createCustomer()
  const { processorPaymentId } = await begin(quiet, customerRef)
  await quiet.confirm(processorPaymentId)
  expect((await quiet.process(processorPaymentId, customerRef)).status).toBe(200)
  expect(await sellerOf(quiet, customerRef)).toBe(await providerOf(quiet))
})

test('names the seller when only a webhook arrives', async () => {
  const customerRef = await told.createCustomer()
  const { processorPaymentId } = await begin(told, customerRef)
  await told.confirm(processorPaymentId)
  const name = await providerOf(told)
  await eventually(async () => expect(await sellerOf(told, customerRef)).toBe(name))
})

test('names the seller if the outcome of the creating call is unknown', async () => {
  const customerRef = await told.createCustomer()
  const fault = { kind: 'error_after', method: 'POST', path: '/v1/payment_intents' }
  await told.simulate('faults', fault)
  const { processorPaymentId } = await begin(told, customerRef)
  expect(processorPaymentId).toBeUndefined()
  const asked = { customerRef, purpose: 'credit_topup', amount: 1000, currency: 'USD' }
  await eventually(async () => {
    const again = await told.createIntent(`old-${customerRef}`, asked)
    expect(again.status).toBe(201)
    await told.confirm(again.body.processorPaymentId)
  })
  const name = await providerOf(told)
  await eventually(async () => expect(await sellerOf(told, customerRef)).toBe(name))
})
