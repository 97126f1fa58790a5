import { afterAll, describe, expect, test } from 'vitest'
import { startStack } from '../stack.ts'
import { openShop, type Shop } from './shop.ts'

/* Effects of deletions: in sandbox everything is deleted, in live everything that was bought is kept. */

const stack = await startStack()
const provider = await stack.createProvider()
const shops = { sandbox: openShop(provider.sandbox), live: openShop(provider.live) }
afterAll(() => stack.stop())

const free = { price: 0, limit: 10 }

async function isListed(shop: Shop, productRef: string): Promise<boolean> {
  const { products } = await shop.get<{ products: { reference: string }[] }>(
    '/v1/sdk/products?limit=100',
  )
  return products.some(({ reference }) => reference === productRef)
}

/** Creates a product with a plan and a customer who has it. */
async function sold(shop: Shop) {
  const offer = await shop.sell(free)
  const customerRef = await shop.newCustomer()
  const purchaseRef = await shop.buy(customerRef, offer)
  return { ...offer, customerRef, purchaseRef }
}

describe('a product', () => {
  test.each(['sandbox', 'live'] as const)(
    'is deleted in %s if it was never bought',
    async (environment) => {
      const shop = shops[environment]
      const { productRef, planRef } = await shop.sell(free)
      const path = `/v1/sdk/products/${productRef}`
      const action = environment === 'live' ? 'soft_deleted' : 'deleted'
      expect(await shop.delete(path)).toEqual({ success: true, action })
      expect(await isListed(shop, productRef)).toBe(false)
      for (const gone of [path, `${path}/plans`, `${path}/plans/${planRef}`]) {
        await shop.get(gone, 404)
      }
      await shop.delete(path, 404)
      const customerRef = await shop.newCustomer()
      await shop.post('/v1/sdk/limits', { customerRef, productRef }, 404)
      const activated = await shop.activate(customerRef, { productRef, planRef })
      expect(activated.status).toBe('invalid')
      const events = await shop.eventsOf(productRef, planRef)
      expect(events.map(({ type }) => type).slice(-2)).toEqual([
        'plan.archived',
        'product.archived',
      ])
    },
  )

  test('is deleted in sandbox with its purchases if it was bought', async () => {
    const shop = shops.sandbox
    const { productRef, customerRef, purchaseRef } = await sold(shop)
    const path = `/v1/sdk/products/${productRef}`
    expect(await shop.delete(path)).toEqual({ success: true, action: 'deleted' })
    expect(await isListed(shop, productRef)).toBe(false)
    expect(await shop.purchase(purchaseRef)).toMatchObject({ status: 'expired' })
    await shop.post('/v1/sdk/limits', { customerRef, productRef }, 404)
  })

  test('is deactivated in live if it was bought, and access continues', async () => {
    const shop = shops.live
    const { productRef, planRef, customerRef, purchaseRef } = await sold(shop)
    const path = `/v1/sdk/products/${productRef}`
    expect(await shop.delete(path)).toEqual({ success: true, action: 'deactivated' })
    expect(await shop.get(path)).toMatchObject({
      status: 'inactive',
      plans: [{ status: 'active' }],
    })
    expect(await isListed(shop, productRef)).toBe(true)
    expect(await shop.purchase(purchaseRef)).toMatchObject({ status: 'active' })
    const access = { withinLimits: true, plan: planRef, remaining: 10 }
    expect(await shop.check(customerRef, productRef)).toMatchObject(access)
    // New customers cannot activate the plan.
    const late = await shop.newCustomer()
    expect((await shop.activate(late, { productRef, planRef })).status).toBe('invalid')
    expect(await shop.check(late, productRef)).toMatchObject({ withinLimits: false, plan: '' })
    // An ended purchase also keeps the product from being deleted.
    await shop.cancel(purchaseRef)
    expect(await shop.delete(path)).toEqual({ success: true, action: 'deactivated' })
  })
})

describe.each(['sandbox', 'live'] as const)('a plan, in %s,', (environment) => {
  test('is deleted without a current purchase', async () => {
    const shop = shops[environment]
    const { productRef, planRef } = await shop.sell(free)
    const path = `/v1/sdk/products/${productRef}/plans/${planRef}`
    expect(await shop.delete(path)).toEqual({ success: true })
    await shop.get(path, 404)
    await shop.delete(path, 404)
    expect(await shop.get(`/v1/sdk/products/${productRef}/plans`)).toMatchObject({ plans: [] })
    const events = await shop.eventsOf(planRef)
    expect(events.map(({ type }) => type)).toEqual(['plan.created', 'plan.archived'])
  })

  test('is archived with a current purchase, which continues', async () => {
    const shop = shops[environment]
    const { productRef, planRef, customerRef, purchaseRef } = await sold(shop)
    const path = `/v1/sdk/products/${productRef}/plans/${planRef}`
    expect(await shop.delete(path)).toEqual({ success: true })
    expect(await shop.get(path)).toMatchObject({ status: 'archived', isActive: false })
    expect(await shop.purchase(purchaseRef)).toMatchObject({ status: 'active' })
    const access = { withinLimits: true, plan: planRef, remaining: 10 }
    expect(await shop.check(customerRef, productRef)).toMatchObject(access)
    const late = await shop.newCustomer()
    expect((await shop.activate(late, { productRef, planRef })).status).toBe('invalid')
    expect((await shop.check(late, productRef)).plans).toEqual([])
  })
})

test('keeps the objects of the other environment', async () => {
  const offers = { sandbox: await shops.sandbox.sell(free), live: await shops.live.sell(free) }
  await shops.live.delete(`/v1/sdk/products/${offers.sandbox.productRef}`, 404)
  await shops.sandbox.delete(`/v1/sdk/products/${offers.live.productRef}`, 404)
  await shops.sandbox.delete(`/v1/sdk/products/${offers.sandbox.productRef}`)
  await shops.live.get(`/v1/sdk/products/${offers.live.productRef}`)
})
