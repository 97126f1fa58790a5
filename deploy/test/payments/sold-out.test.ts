import { afterAll, expect, test, vi } from 'vitest'
import type { ActivateResponse } from '@tollgate/schemas/http/activate'
import type { LimitsResponse } from '@tollgate/schemas/http/limits'
import { eventually } from './payment-stack.ts'
import { RenewalStack } from './renewal-stack.ts'

/* A one-time plan is sold at most `availability.maxQuantity` times, however many customers buy at once. */

/* 50 concurrent purchases take long on a busy machine. */
vi.setConfig({ testTimeout: 180_000 })

const shop = await RenewalStack.start({ hasWebhooks: true })
afterAll(() => shop.stop())

const oneTime = (maxQuantity: number, fields: object = {}) =>
  shop.payments.createPlan({ type: 'one-time', price: 0, availability: { maxQuantity }, ...fields })

async function activate(customerRef: string, planRef: string): Promise<ActivateResponse> {
  const request = { customerRef, productRef: shop.payments.productRef, planRef }
  return (await shop.payments.call<ActivateResponse>('POST', '/v1/sdk/activate', request)).body
}

async function soldOf(planRef: string): Promise<number> {
  const rows = await shop.sql`
    select 1 from purchases where plan_ref = ${planRef} and status <> 'refunded'`
  return rows.length
}

const customers = (count: number) =>
  Promise.all(Array.from({ length: count }, () => shop.payments.createCustomer()))

test('gives 5 of 50 concurrent activations a place', async () => {
  const planRef = await oneTime(5)
  const answers = await Promise.all(
    (await customers(50)).map((customerRef) => activate(customerRef, planRef)),
  )
  expect(answers.filter(({ status }) => status === 'activated')).toHaveLength(5)
  const refused = answers.filter(({ status }) => status !== 'activated')
  expect(refused).toHaveLength(45)
  for (const answer of refused) {
    expect(answer).toEqual({ status: 'invalid', message: 'The plan is sold out' })
  }
  expect(await soldOf(planRef)).toBe(5)
})

test('gives 5 of 50 concurrent payments a place, and refunds the others', async () => {
  const planRef = await oneTime(5, { price: 1_900 })
  const { productRef } = shop.payments
  const bought = (await customers(50)).map(async (customerRef) => {
    const request = { customerRef, productRef, planRef }
    const { body } = await shop.payments.createIntent(`sold-${customerRef}`, request)
    return { customerRef, id: body.processorPaymentId }
  })
  const payments = await Promise.all(bought)
  await Promise.all(payments.map(({ id }) => shop.payments.confirm(id)))
  await Promise.all(payments.map(({ id, customerRef }) => shop.payments.process(id, customerRef)))
  await eventually(async () => {
    expect(await soldOf(planRef)).toBe(5)
    const refunded = await Promise.all(payments.map(({ id }) => shop.refundedMinorOf(id)))
    expect(refunded.filter((minor) => minor === 1_900n)).toHaveLength(45)
    expect(refunded.filter((minor) => minor === 0n)).toHaveLength(5)
  }, 120_000)
})

test('gives 5 of 50 customers a place who are enrolled by limit checks', async () => {
  const product = { name: 'Limited' }
  const { body } = await shop.payments.call<{ reference: string }>(
    'POST',
    '/v1/sdk/products',
    product,
  )
  const productRef = body.reference
  const plan = { name: 'Founders', type: 'one-time', price: 0, default: true, limit: 10 }
  const limited = { ...plan, availability: { maxQuantity: 5 } }
  await shop.payments.call('POST', `/v1/sdk/products/${productRef}/plans`, limited)
  const checks = (await customers(50)).map(async (customerRef) => {
    const request = { customerRef, productRef }
    return (await shop.payments.call<LimitsResponse>('POST', '/v1/sdk/limits', request)).body
  })
  const answers = await Promise.all(checks)
  expect(answers.filter(({ withinLimits }) => withinLimits)).toHaveLength(5)
})

test('frees a place after a refund, but not after a cancellation', async () => {
  const planRef = await oneTime(2, { price: 1_900 })
  const first = await shop.buy(planRef)
  await shop.payments.call('POST', `/v1/sdk/purchases/${first.reference}/cancel`, {})
  const second = await shop.buy(planRef)
  const third = await shop.payments.createCustomer()
  const request = { customerRef: third, productRef: shop.payments.productRef, planRef }
  expect(await shop.payments.createIntent(`third-${third}`, request)).toMatchObject({
    status: 400,
    body: { message: 'The plan is sold out' },
  })
  expect(await activate(third, planRef)).toMatchObject({ status: 'invalid' })
  expect(await shop.payments.call('POST', '/v1/sdk/checkout-sessions', request)).toMatchObject({
    status: 400,
    body: { message: `Plan ${planRef} is sold out` },
  })
  const [paid] = await shop.sql<{ id: string }[]>`
    select processor_payment_id as id from payment_intents where purchase_ref = ${second.reference}`
  await shop.payments.stripe('POST', 'refunds', { payment_intent: paid!.id })
  await eventually(async () => expect(await soldOf(planRef)).toBe(1))
  await shop.pay(third, planRef, 'pm_card_visa')
  expect(await soldOf(planRef)).toBe(2)
})

test('counts one place per customer of a free plan, however often it is activated and cancelled', async () => {
  const planRef = await oneTime(2)
  const [one, other, third] = await customers(3)
  const cancel = (purchaseRef: string | undefined) =>
    shop.payments.call('POST', `/v1/sdk/purchases/${purchaseRef}/cancel`, {})
  for (let times = 0; times < 3; times += 1) {
    const { status, purchaseRef } = await activate(one!, planRef)
    expect(status).toBe('activated')
    expect(await cancel(purchaseRef)).toMatchObject({ status: 200 })
  }
  expect(await activate(other!, planRef)).toMatchObject({ status: 'activated' })
  expect(await activate(third!, planRef)).toMatchObject({ message: 'The plan is sold out' })
  // The place still belongs to the customer who had it.
  const request = { customerRef: one, productRef: shop.payments.productRef, planRef }
  expect(await shop.payments.call('POST', '/v1/sdk/checkout-sessions', request)).toMatchObject({
    status: 201,
  })
  expect(await activate(one!, planRef)).toMatchObject({ status: 'activated' })
})

test('counts a place for each purchase of a paid plan, even by the same customer', async () => {
  const planRef = await oneTime(2, { price: 1_900 })
  const { reference, customerRef } = await shop.buy(planRef)
  await shop.payments.call('POST', `/v1/sdk/purchases/${reference}/cancel`, {})
  await shop.pay(customerRef, planRef, 'pm_card_visa')
  const request = { customerRef, productRef: shop.payments.productRef, planRef }
  const second = (await shop.purchasesOf(customerRef)).find(({ status }) => status === 'active')
  await shop.payments.call('POST', `/v1/sdk/purchases/${second!.reference}/cancel`, {})
  expect(await shop.payments.createIntent(`again-${customerRef}`, request)).toMatchObject({
    status: 400,
    body: { message: 'The plan is sold out' },
  })
})

test('sells more after the quantity is raised', async () => {
  const planRef = await oneTime(1)
  const [one, other] = await customers(2)
  expect(await activate(one!, planRef)).toMatchObject({ status: 'activated' })
  expect(await activate(other!, planRef)).toMatchObject({ status: 'invalid' })
  const path = `/v1/sdk/products/${shop.payments.productRef}/plans/${planRef}`
  await shop.payments.call('PUT', path, { availability: { maxQuantity: 2 } })
  expect(await activate(other!, planRef)).toMatchObject({ status: 'activated' })
})

test.each([
  ['maxActiveUsers', { maxActiveUsers: 7 }, ['maxActiveUsers']],
  [
    'a quantity of a plan that renews',
    { availability: { maxQuantity: 3 } },
    ['availability', 'maxQuantity'],
  ],
  [
    'half a piece',
    { type: 'one-time', availability: { maxQuantity: 1.5 } },
    ['availability', 'maxQuantity'],
  ],
  [
    'none at all',
    { type: 'one-time', availability: { maxQuantity: 0 } },
    ['availability', 'maxQuantity'],
  ],
  [
    'a notice of a hybrid plan',
    { type: 'hybrid', cancellationNoticeDays: 3 },
    ['cancellationNoticeDays'],
  ],
])('refuses a plan with %s and names the field', async (_, fields, path) => {
  const { productRef } = shop.payments
  const plans = `/v1/sdk/products/${productRef}/plans`
  expect(await shop.payments.call('POST', plans, { name: 'Plan', ...fields })).toMatchObject({
    status: 400,
    body: { message: 'Validation failed', errors: [{ path }] },
  })
})

test('shows a sold-out plan on the checkout without offering it', async () => {
  const planRef = await oneTime(1, { name: 'Last piece' })
  const [holder, other] = await customers(2)
  expect(await activate(holder!, planRef)).toMatchObject({ status: 'activated' })
  const { productRef } = shop.payments
  const { body } = await shop.payments.call<{ checkoutUrl: string }>(
    'POST',
    '/v1/sdk/checkout-sessions',
    { customerRef: other, productRef },
  )
  const { pathname, search } = new URL(body.checkoutUrl)
  const get = (at: string, cookie = '') =>
    shop.payments.stack.fetch(at, { headers: { cookie }, redirect: 'manual' })
  const opened = await get(pathname + search)
  const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? ''
  const path = opened.headers.get('location') ?? ''
  const list = await (await get(path, cookie)).text()
  expect(list).toContain('Sold out')
  expect(list).not.toContain('Choose Last piece')
  expect(await (await get(`${path}?plan=${planRef}`, cookie)).text()).toContain(
    'This plan is sold out.',
  )
})
