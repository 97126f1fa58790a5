import { afterAll, beforeAll, expect, test } from 'vitest'
import { ClockStack } from './clock-stack.ts'
import { clockTime as at } from './clock-year.ts'

let clocks: ClockStack
let productRef: string

beforeAll(async () => {
  clocks = await ClockStack.start()
  productRef = (await clocks.client.createProduct({ name: 'API' })).reference
}, 120_000)
afterAll(async () => {
  await clocks.stop()
})

test('a scheduled change takes effect at the time of the clock', async () => {
  const monthly = { type: 'recurring', billingCycle: 'monthly' }
  const small = await clocks.client.createPlan(productRef, { ...monthly, name: 'S', price: 3000 })
  const big = await clocks.client.createPlan(productRef, { ...monthly, name: 'B', price: 6100 })
  const clock = await clocks.createClock(at('01-01'))
  const customerRef = await clocks.createCustomer(clock)
  const { reference } = await clocks.buy(customerRef, productRef, small.reference)
  const path = `/v1/sdk/purchases/${reference}/scheduled-change`
  const wanted = { planRef: big.reference, effectiveAt: at('01-11') }
  expect((await clocks.client.send('PUT', path, wanted)).status).toBe(200)
  await clocks.advance(clock, at('02-02'))
  const invoices = await clocks.invoicesOf(customerRef)
  // 21 of the 31 days of January are left: (6100 - 3000) x 21 / 31.
  expect(invoices.map(({ status, total, createdAt }) => ({ status, total, createdAt }))).toEqual([
    { status: 'paid', total: 3000, createdAt: at('01-01') },
    { status: 'paid', total: 2100, createdAt: at('01-11') },
    { status: 'paid', total: 6100, createdAt: at('02-01', '10:00:00') },
  ])
})
