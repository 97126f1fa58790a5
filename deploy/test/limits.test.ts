import { afterAll, expect, test } from 'vitest'
import { createCappedProduct, createCustomer } from './offers.ts'
import { startStack } from './stack.ts'

const stack = await startStack()
const client = (await stack.createProvider()).sandbox

afterAll(() => stack.stop())

function times(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at)
}

test('shows exactly N fewer units in a check after N concurrent records', async () => {
  const productRef = await createCappedProduct(client, 1_000)
  const customerRef = await createCustomer(client)
  let expected = (await client.checkLimit(customerRef, productRef)).remaining
  expect(expected).toBe(1_000)
  for (const count of [1, 7, 40, 120]) {
    await Promise.all(times(count).map(() => client.recordUsage({ customerRef, productRef })))
    expected -= count
    expect((await client.checkLimit(customerRef, productRef)).remaining).toBe(expected)
  }
})

test('allows 10 of 10 calls, and denies the 11th with the offered plans', async () => {
  const productRef = await createCappedProduct(client, 10)
  const customerRef = await createCustomer(client)
  for (const used of times(10)) {
    const check = await client.checkLimit(customerRef, productRef)
    expect(check).toMatchObject({ withinLimits: true, remaining: 10 - used })
    await client.recordUsage({ customerRef, productRef })
  }
  const denied = await client.checkLimit(customerRef, productRef)
  expect(denied).toMatchObject({
    withinLimits: false,
    remaining: 0,
    product: { reference: productRef },
    plans: [{ type: 'recurring', price: 0, currency: 'USD', requiresPayment: false }],
  })
  // Usage is never refused because of a limit, and more usage does not change the result of the check.
  await Promise.all(times(5).map(() => client.recordUsage({ customerRef, productRef })))
  expect(await client.checkLimit(customerRef, productRef)).toEqual(denied)
})

test('counts usage under an external id once the customer exists, and after a later link', async () => {
  const productRef = await createCappedProduct(client, 100)
  for (const at of times(5)) {
    await client.recordUsage({ customerRef: 'early_bird', productRef, units: 1 + at })
  }
  const customerRef = await createCustomer(client, 'early_bird')
  expect((await client.checkLimit('early_bird', productRef)).remaining).toBe(85)
  expect((await client.checkLimit(customerRef, productRef)).remaining).toBe(85)

  const linkedLater = await createCustomer(client)
  await client.recordUsage({ customerRef: linkedLater, productRef, units: 3 })
  await client.recordUsage({ customerRef: 'late_link', productRef, units: 4 })
  expect((await client.checkLimit(linkedLater, productRef)).remaining).toBe(97)
  const patch = await client.send('PATCH', `/v1/sdk/customers/${linkedLater}`, {
    externalRef: 'late_link',
  })
  expect(patch.status).toBe(200)
  expect((await client.checkLimit(linkedLater, productRef)).remaining).toBe(93)
  expect((await client.checkLimit('late_link', productRef)).remaining).toBe(93)
})

test('counts usage per product, and usage without a product for both', async () => {
  const first = await createCappedProduct(client, 50)
  const second = await createCappedProduct(client, 80)
  const customerRef = await createCustomer(client)
  await client.recordUsage({ customerRef, productRef: first, units: 5 })
  await client.recordUsage({ customerRef, productRef: second, units: 7 })
  await client.recordUsage({ customerRef, units: 2 })
  expect((await client.checkLimit(customerRef, first)).remaining).toBe(43)
  expect((await client.checkLimit(customerRef, second)).remaining).toBe(71)
  await client.recordUsage({ customerRef, units: 1 })
  expect((await client.checkLimit(customerRef, first)).remaining).toBe(42)
  expect((await client.checkLimit(customerRef, second)).remaining).toBe(70)
})

test('counts only successful calls', async () => {
  const productRef = await createCappedProduct(client, 10)
  const customerRef = await createCustomer(client)
  for (const outcome of ['success', 'fail', 'paywall']) {
    await client.recordUsage({ customerRef, productRef, outcome })
  }
  expect((await client.checkLimit(customerRef, productRef)).remaining).toBe(9)
})

test('records 100 concurrent calls with one idempotency key once, under one reference', async () => {
  const productRef = await createCappedProduct(client, 100)
  const customerRef = await createCustomer(client)
  const usage = { customerRef, productRef, units: 3, idempotencyKey: 'same' }
  const answers = await Promise.all(times(100).map(() => client.recordUsage(usage)))
  expect(new Set(answers.map((answer) => answer.reference)).size).toBe(1)
  const duplicates = answers.filter((answer) => answer.creditDebit?.reason === 'duplicate')
  expect(duplicates).toHaveLength(99)
  expect((await client.checkLimit(customerRef, productRef)).remaining).toBe(97)
  const meterRef = await client.requestsMeter()
  const day = 86_400_000
  const stored = await client.meterUsage(meterRef, {
    from: new Date(Date.now() - day).toISOString(),
    to: new Date(Date.now() + day).toISOString(),
    customerRef,
  })
  expect(stored).toMatchObject({ total: 3, count: 1 })
})

test('creates one purchase for 5 concurrent first checks', async () => {
  const productRef = await createCappedProduct(client, 10)
  const customerRef = await createCustomer(client)
  const checks = await Promise.all(times(5).map(() => client.checkLimit(customerRef, productRef)))
  for (const check of checks) expect(check).toMatchObject({ withinLimits: true, remaining: 10 })
  const { body } = await client.send('GET', `/v1/sdk/purchases/customer/${customerRef}`)
  expect((body as { purchases: unknown[] }).purchases).toHaveLength(1)
})

test('separates sandbox from live, and providers from each other', async () => {
  const provider = await stack.createProvider()
  const stranger = await stack.createProvider()
  const productRef = await createCappedProduct(provider.live, 10)
  const customerRef = await createCustomer(provider.live, 'shared_name')
  await provider.live.recordUsage({ customerRef: 'shared_name', productRef, units: 4 })
  for (const other of [provider.sandbox, stranger.live, stranger.sandbox]) {
    const product = await other.send('GET', `/v1/sdk/products/${productRef}`)
    const customer = await other.send('GET', `/v1/sdk/customers/${customerRef}`)
    const check = await other.send('POST', '/v1/sdk/limits', { customerRef, productRef })
    expect([product.status, customer.status, check.status]).toEqual([404, 404, 404])
    // The other provider's usage is accepted under the same customer reference, and does not affect this provider.
    await other.recordUsage({ customerRef: 'shared_name', productRef, units: 5 })
  }
  expect((await provider.live.checkLimit('shared_name', productRef)).remaining).toBe(6)
})
