import { expect, test } from 'vitest'
import { reconcileAmount, german, startSwedishProvider, swede } from './taxed-payments.ts'

/* Customers who already stated their country: tax is added to their payments automatically. */

const { payments, provider, topUp, setDetails, pay, amountAtProcessor } =
  await startSwedishProvider()

/** Sets business details through a payment that is never made. */
async function stateDetails(details: object): Promise<void> {
  expect((await setDetails((await topUp()).processorPaymentId, details)).status).toBe(200)
  provider.sequence += 1
}

function purchasesMade() {
  return payments.sql`
    select amount::text, original_amount::text from purchases where customer_ref = ${provider.customerRef}`
}

test('includes the tax in a payment for credits from the start', async () => {
  await stateDetails(swede)
  const intent = await topUp()
  expect(intent).toMatchObject({ amount: 1250, originalAmount: 1250 })
  expect(await amountAtProcessor(intent.processorPaymentId)).toBe(1250)
  expect((await setDetails(intent.processorPaymentId, german)).body.taxBreakdown.total).toBe(1000)
  expect(await amountAtProcessor(intent.processorPaymentId)).toBe(1000)
  await setDetails(intent.processorPaymentId, swede)
  expect((await pay(intent)).status).toBe('succeeded')
  expect(await purchasesMade()).toEqual([{ amount: '1000', original_amount: '1000' }])
  expect(await payments.balanceOf(provider.customerRef)).toBe(100_000)
})

test('includes the tax in a payment for a plan, whose purchase records the price', async () => {
  await stateDetails(swede)
  const planRef = await payments.createPlan({ price: 2000, taxBehavior: 'exclusive' })
  const plan = { productRef: payments.productRef, planRef }
  const { body: intent } = await provider.createIntent(plan)
  expect(intent).toMatchObject({ amount: 2500, originalAmount: 2500 })
  expect((await pay(intent)).status).toBe('succeeded')
  expect(await purchasesMade()).toEqual([{ amount: '2000', original_amount: '2000' }])
})

test('refuses an amount that cannot be charged with its tax', async () => {
  await stateDetails(swede)
  const planRef = await payments.createPlan({ price: 99_999_999, taxBehavior: 'exclusive' })
  const plan = { productRef: payments.productRef, planRef }
  const { status, body } = await provider.createIntent(plan)
  expect([status, body]).toMatchObject([
    400,
    { message: expect.stringContaining('With its tax the amount must not exceed') as string },
  ])
})

test('ignores a read that found the amount before a change', async () => {
  await stateDetails(swede)
  const { transactionId: reference = '' } = await topUp()
  await setDetails(reference, german)
  expect(await reconcileAmount(payments, reference, 1250n, 'open')).toBeUndefined()
  expect(await reconcileAmount(payments, reference, 1250n, 'succeeded')).toEqual([
    1250n,
    1250n,
    250n,
  ])
})
