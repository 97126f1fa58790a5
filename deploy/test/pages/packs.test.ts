import { afterAll, beforeAll, expect, test } from 'vitest'
import { createCustomer } from '../offers.ts'
import { enterCard, startPayingStack, type PayingStack } from './paying.ts'
import { createVisitor } from './visitor.ts'

/* Packs in the portal, in a real browser with all services and the simulator of Stripe. */

let paying: PayingStack
let productRef: string
let planRef: string

beforeAll(async () => {
  paying = await startPayingStack()
  const { client } = paying
  productRef = (await client.createProduct({ name: 'Weather API' })).reference
  const free = { name: 'Basic', type: 'recurring', billingCycle: 'monthly', price: 0, limit: 100 }
  planRef = (await client.createPlan(productRef, free)).reference
  for (const [units, price] of [
    [1_000, 2_500],
    [50, 500],
  ] as const) {
    const pack = { type: 'one-time', price, pack: { units }, accessExpiryDays: 90 }
    await client.createPlan(productRef, { name: `${units} more requests`, ...pack })
  }
})

afterAll(() => paying.stop())

test('are bought beside the running plan, and show what is left of them and until when', async () => {
  const customerRef = await createCustomer(paying.client)
  const named = { customerRef, productRef }
  await paying.send('POST', '/v1/sdk/activate', { ...named, planRef })
  const visitor = await createVisitor(paying.browser)
  const { page } = visitor
  await page.goto(await paying.portalLink(customerRef))
  const portal = page.url()
  await visitor.inspect('portal-offers-packs')
  await page.getByRole('link', { name: 'Buy more units' }).click()
  await page.getByRole('heading', { name: 'More units for Weather API' }).waitFor()
  // The cheapest pack comes first.
  expect(await page.getByRole('heading', { level: 2 }).allInnerTexts()).toEqual([
    '50 more requests',
    '1000 more requests',
  ])
  await visitor.inspect('portal-packs')
  await page.getByRole('button', { name: 'Buy 50 more requests' }).click()
  const due = page.getByRole('region', { name: 'What is due' })
  await expect(due.innerText()).resolves.toMatch(/Due today[^]*\$5\.00/)
  await page.getByRole('button', { name: 'Continue to payment' }).click()
  await enterCard(page, '4242424242424242')
  await page.getByRole('heading', { name: 'active' }).waitFor()
  await visitor.inspect('checkout-done-pack')

  const usage = { ...named, meterName: 'requests', value: 110 }
  await paying.send('POST', '/v1/sdk/meter-events', usage)
  await page.goto(portal)
  const pack = page.getByRole('article').filter({ hasText: '50 more requests' })
  await expect
    .poll(async () => {
      await page.reload()
      return (await pack.innerText()).replaceAll(/\s+/g, ' ')
    })
    .toMatch(/Ends \w+ \d+, \d{4} 40 of 50 units left/)
  expect(await pack.getByRole('link', { name: 'Buy more units' }).count()).toBe(0)
  await page.getByText('110 of 150 requests').waitFor()
  const cards = await page.getByRole('article').allInnerTexts()
  expect(cards.map((text) => /Basic|50 more/.exec(text)?.[0])).toEqual(['Basic', '50 more'])
  await visitor.inspect('portal-with-pack')
  await pack.getByRole('link').click()
  await page.getByText('40 of 50 units left').waitFor()
  await visitor.inspect('portal-pack')
  await visitor.close()
})
