import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { BalanceBody } from '@tollgate/schemas/http/credits'
import type {
  PaymentIntentBody,
  ProcessedPaymentBody,
} from '@tollgate/schemas/http/payment-intents'
import type { PaymentStack } from './payment-stack.ts'
import {
  adoptedMoney,
  amountAtProcessor,
  german,
  setDetailsOf,
  startSwedishProvider,
  swede,
  topUpOf,
} from './taxed-payments.ts'

/* Customers who already stated their country: tax is added to their payments automatically. */

let payments: PaymentStack
let customerRef: string
let sequence = 0

beforeAll(async () => {
  payments = await startSwedishProvider()
})
afterAll(() => payments.stop())
beforeEach(async () => {
  sequence += 1
  customerRef = await payments.createCustomer()
})

const topUp = (amount?: number, currency?: string): Promise<PaymentIntentBody> =>
  topUpOf(payments, customerRef, `taxed-${sequence}`, amount, currency)

const setDetails = (reference: string, details: object) =>
  setDetailsOf(payments, reference, details)

const atProcessor = (processorPaymentId: string): Promise<number> =>
  amountAtProcessor(payments, processorPaymentId)

async function pay({ processorPaymentId }: PaymentIntentBody): Promise<ProcessedPaymentBody> {
  await payments.confirm(processorPaymentId)
  return (await payments.process<ProcessedPaymentBody>(processorPaymentId, customerRef)).body
}

/** Sets business details through a payment that is never made. */
async function say(details: object): Promise<void> {
  expect((await setDetails((await topUp()).processorPaymentId, details)).status).toBe(200)
  sequence += 1
}

function purchasesMade() {
  return payments.stack.database.in('sandbox')`
    select amount::text, original_amount::text from purchases where customer_ref = ${customerRef}`
}

test('pays credits with the tax from the start', async () => {
  await say(swede)
  const intent = await topUp()
  expect(intent).toMatchObject({ amount: 1250, originalAmount: 1250 })
  expect(await atProcessor(intent.processorPaymentId)).toBe(1250)
  expect((await setDetails(intent.processorPaymentId, german)).body.taxBreakdown.total).toBe(1000)
  expect(await atProcessor(intent.processorPaymentId)).toBe(1000)
  await setDetails(intent.processorPaymentId, swede)
  expect((await pay(intent)).status).toBe('succeeded')
  expect(await purchasesMade()).toEqual([{ amount: '1000', original_amount: '1000' }])
  const balance = `/v1/sdk/customers/${customerRef}/balance`
  expect((await payments.call<BalanceBody>('GET', balance)).body.credits).toBe(100_000)
})

test('pays a plan with the tax, and the purchase costs the price', async () => {
  await say(swede)
  const planRef = await payments.createPlan({ price: 2000, taxBehavior: 'exclusive' })
  const asked = { customerRef, productRef: payments.productRef, planRef }
  const { body: intent } = await payments.createIntent(`taxed-${sequence}`, asked)
  expect(intent).toMatchObject({ amount: 2500, originalAmount: 2500 })
  expect((await pay(intent)).status).toBe('succeeded')
  expect(await purchasesMade()).toEqual([{ amount: '2000', original_amount: '2000' }])
})

test('is refused an amount that cannot be charged with its tax', async () => {
  await say(swede)
  const planRef = await payments.createPlan({ price: 99_999_999, taxBehavior: 'exclusive' })
  const asked = { customerRef, productRef: payments.productRef, planRef }
  const { status, body } = await payments.createIntent(`taxed-${sequence}`, asked)
  expect([status, body]).toMatchObject([
    400,
    { message: expect.stringContaining('With its tax the amount must not exceed') as string },
  ])
})

test('and a look that found the first amount says nothing of the next one', async () => {
  await say(swede)
  const { transactionId: reference = '' } = await topUp()
  await setDetails(reference, german)
  expect(await adoptedMoney(payments, reference, 1250n, 'open')).toBeUndefined()
  expect(await adoptedMoney(payments, reference, 1250n, 'succeeded')).toEqual([1250n, 1250n, 250n])
})
