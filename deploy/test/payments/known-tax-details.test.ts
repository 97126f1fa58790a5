import { afterEach, describe, expect, test } from 'vitest'
import { reconcileAmount, german, startSwedishProvider, swede } from './taxed-payments.ts'

/* Customers whose tax is known before they pay: they stated their country earlier, or the seller has a default. */

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

describe('a seller who says where customers without tax details are', () => {
  const change = (merchant: object) => payments.call('PATCH', '/v1/ui/merchant', merchant)

  afterEach(() => change({ country: 'SE', defaultTaxCountry: null }))

  test('charges that tax until the customer says another country, and never both', async () => {
    await change({ defaultTaxCountry: 'FI' })
    const intent = await topUp()
    expect(await amountAtProcessor(intent.processorPaymentId)).toBe(1255)
    const nowhere = await setDetails(intent.processorPaymentId, { isBusiness: false })
    expect(nowhere.body.taxBreakdown).toMatchObject({ subtotal: 1000, total: 1255 })
    const sweden = await setDetails(intent.processorPaymentId, swede)
    expect(sweden.body.taxBreakdown).toMatchObject({ subtotal: 1000, total: 1250 })
    expect((await pay(intent)).status).toBe('succeeded')
    expect(await payments.balanceOf(provider.customerRef)).toBe(100_000)
    provider.sequence += 1
    expect(await amountAtProcessor((await topUp()).processorPaymentId)).toBe(1250)
  })

  test('answers a repeated request about a region like the first one, also after the payment', async () => {
    await change({ country: 'CA', defaultTaxCountry: 'CA', defaultTaxRegion: 'ON' })
    const intent = await topUp()
    expect(await amountAtProcessor(intent.processorPaymentId)).toBe(1130)
    const details = { isBusiness: false, customerCountry: 'CA', region: 'NS' }
    const first = await setDetails(intent.processorPaymentId, details)
    expect(first.body.taxBreakdown).toMatchObject({ taxAmount: 140, total: 1140 })
    expect((await setDetails(intent.processorPaymentId, details)).body).toEqual(first.body)
    expect((await pay(intent)).status).toBe('succeeded')
    expect((await setDetails(intent.processorPaymentId, details)).body).toEqual(first.body)
  })
})

test('charges tax for a tax id that a person found invalid, also in a payment that is open', async () => {
  const intent = await topUp()
  expect((await setDetails(intent.processorPaymentId, german)).body.taxBreakdown.total).toBe(1000)
  const decision = { taxId: 'DE123456789', status: 'invalid', reason: 'asked by phone' }
  const path = `/v1/ui/customers/${provider.customerRef}/tax-id-check`
  expect((await payments.call('PUT', path, decision)).status).toBe(200)
  const spaced = { ...german, taxId: 'De123 45\t6789' }
  expect((await setDetails(intent.processorPaymentId, spaced)).body.taxBreakdown.total).toBe(1190)
  expect(await amountAtProcessor(intent.processorPaymentId)).toBe(1190)
})
