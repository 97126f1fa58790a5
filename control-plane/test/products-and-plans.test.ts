import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listOutboxEvents } from '@tollgate/domain/outbox/repository'
import { offerDocumentKey, type PublishedOffer } from '@tollgate/schemas/hot-state/documents'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import type { PlanBody } from '@tollgate/schemas/http/plans'
import type { ProductBody, ProductDeletedBody } from '@tollgate/schemas/http/products'
import type { PurchaseBody } from '@tollgate/schemas/http/purchases'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

let stack: TestStack
let tenant: Tenant

beforeAll(async () => {
  stack = await startTestStack()
  tenant = await stack.createTenant('EUR')
})
afterAll(() => stack.stop())

const products = '/v1/sdk/products'

async function call<Body>(method: string, path: string, body?: unknown, key = tenant.sandboxKey) {
  return stack.call<Body>(key, method, path, body)
}

async function createProduct(fields: object = {}, key = tenant.sandboxKey): Promise<ProductBody> {
  const { status, body } = await call<ProductBody>(
    'POST',
    products,
    { name: 'API', ...fields },
    key,
  )
  expect(status).toBe(201)
  return body
}

async function createPlan(
  productRef: string,
  fields: object = {},
  key = tenant.sandboxKey,
): Promise<PlanBody> {
  const path = `${products}/${productRef}/plans`
  const { status, body } = await call<PlanBody>('POST', path, { name: 'Plan', ...fields }, key)
  expect([status, body.message]).toEqual([201, undefined])
  return body
}

async function provision(productRef: string, key = tenant.sandboxKey): Promise<void> {
  const email = `${productRef}-${Math.random()}@example.com`.toLowerCase()
  const customer = await call<CustomerBody>('POST', '/v1/sdk/customers', { email }, key)
  const request = { customerRef: customer.body.reference, productRef }
  const answer = await call<{ withinLimits: boolean }>('POST', '/v1/sdk/limits', request, key)
  expect(answer.body.withinLimits).toBe(true)
}

async function eventTypesOf(reference: string, environment = 'sandbox'): Promise<string[]> {
  const pool = stack.database.in(environment)
  const events = await listOutboxEvents(pool, tenant.providerId, 10_000)
  return events.filter(({ object }) => object['id'] === reference).map(({ type }) => type)
}

async function publishedOffer(productRef: string): Promise<PublishedOffer | undefined> {
  const key = offerDocumentKey('sandbox', tenant.providerId, productRef)
  const text = await stack.hotState.readDocument(key)
  return text === undefined ? undefined : (JSON.parse(text) as PublishedOffer)
}

describe('products', () => {
  test('are created with exactly the given fields', async () => {
    const product = await createProduct({
      description: 'd',
      config: { deliveryMethod: 'api', validityPeriod: 30 },
      categories: ['ignored'],
    })
    expect(product).toMatchObject({
      name: 'API',
      description: 'd',
      status: 'active',
      balance: 0,
      totalTransactions: 0,
      isMcpPay: false,
      config: { deliveryMethod: 'api', validityPeriod: 30 },
      metadata: {},
      plans: [],
    })
    expect(product.reference).toMatch(/^prd_[A-Z0-9]+$/)
    expect(product).not.toHaveProperty('categories')
    expect(await eventTypesOf(product.reference)).toEqual(['product.created'])
    expect(await publishedOffer(product.reference)).toEqual({
      product: { reference: product.reference, name: 'API' },
      plans: [],
    })
  })

  test('keep fields that a change does not name', async () => {
    const product = await createProduct({ description: 'd', metadata: { a: 1 } })
    const path = `${products}/${product.reference}`
    const { body } = await call<ProductBody>('PUT', path, { name: 'New', status: 'suspended' })
    expect(body).toMatchObject({
      name: 'New',
      status: 'suspended',
      description: 'd',
      metadata: { a: 1 },
    })
    expect((await call<ProductBody>('PUT', path, { config: 'text' })).status).toBe(400)
    expect((await call<ProductBody>('GET', path)).body).toEqual(body)
  })

  test('emit no event for an unchanged update, and one when they are deactivated', async () => {
    const { reference } = await createProduct({ metadata: { a: 1 } }, tenant.liveKey)
    const path = `${products}/${reference}`
    const change = (fields: object) => call('PUT', path, fields, tenant.liveKey)
    const { reference: planRef } = await createPlan(reference, { default: true }, tenant.liveKey)
    await provision(reference, tenant.liveKey)
    await change({ name: 'API', metadata: { a: 1 } })
    await change({ name: 'Other' })
    await change({ status: 'inactive' })
    await change({ status: 'inactive' })
    expect((await call('DELETE', path, undefined, tenant.liveKey)).status).toBe(200)
    expect(await eventTypesOf(reference, 'live')).toEqual([
      'product.created',
      'product.updated',
      'product.updated',
      'product.archived',
    ])
    const planPath = `${path}/plans/${planRef}`
    await call('PUT', planPath, { name: 'Plan' }, tenant.liveKey)
    await call('PUT', planPath, { name: 'Changed' }, tenant.liveKey)
    expect(await eventTypesOf(planRef, 'live')).toEqual(['plan.created', 'plan.updated'])
  })

  test('do not archive plans again that were archived before', async () => {
    const { reference } = await createProduct()
    const path = `${products}/${reference}`
    const plan = await createPlan(reference)
    const other = await createPlan(reference)
    await call('PUT', `${path}/plans/${plan.reference}`, { status: 'archived' })
    await call('DELETE', path)
    expect(await eventTypesOf(plan.reference)).toEqual(['plan.created', 'plan.archived'])
    expect(await eventTypesOf(other.reference)).toEqual(['plan.created', 'plan.archived'])
  })

  test('are listed newest first, filtered, in pages with limits', async () => {
    const other = await stack.createTenant()
    const create = (fields: object) => createProduct(fields, other.sandboxKey)
    await create({ name: 'Alpha 100%' })
    await create({ name: 'Beta', description: 'the alpha of betas', isMcpPay: true })
    await create({ name: 'Gamma' })
    const list = async (query: string) => {
      const path = `${products}${query}`
      const answer = await call<{ products: ProductBody[]; total: number; limit: number }>(
        'GET',
        path,
        undefined,
        other.sandboxKey,
      )
      return { ...answer.body, names: answer.body.products?.map(({ name }) => name) }
    }
    expect((await list('')).names).toEqual(['Gamma', 'Beta', 'Alpha 100%'])
    expect(await list('?limit=2')).toMatchObject({ names: ['Gamma', 'Beta'], total: 3, limit: 2 })
    expect((await list('?limit=2&offset=2')).names).toEqual(['Alpha 100%'])
    expect(await list('?limit=1000')).toMatchObject({ limit: 100 })
    expect(await list('?limit=0')).toMatchObject({ limit: 1 })
    expect(await list('?limit=&offset=&status=')).toMatchObject({ total: 3, limit: 50 })
    expect((await list('?search=ALPHA')).names).toEqual(['Beta', 'Alpha 100%'])
    expect((await list('?search=0%25')).names).toEqual(['Alpha 100%'])
    expect((await list('?isMcpPay=true')).names).toEqual(['Beta'])
    expect((await list('?status=inactive')).names).toEqual([])
    expect(await list('?status=unknown')).toMatchObject({ statusCode: 400 })
  })

  test('get new plans and references when they are cloned', async () => {
    const product = await createProduct({ description: 'd' })
    const plan = await createPlan(product.reference, { default: true, freeUnits: 5 })
    const path = `${products}/${product.reference}/clone`
    const { status, body } = await stack.callRaw<ProductBody>(tenant.sandboxKey, 'POST', path, {})
    expect(status).toBe(201)
    expect(body).toMatchObject({ description: 'd', plans: [{ name: 'Plan', freeUnits: 5 }] })
    expect(body.reference).not.toBe(product.reference)
    expect(body.plans?.[0]?.reference).not.toBe(plan.reference)
    expect(body.plans?.[0]?.default).toBe(true)
    const named = await call<ProductBody>('POST', path, { name: 'Named' })
    expect(named.body.name).toBe('Named')
    expect(await eventTypesOf(body.reference)).toEqual(['product.created'])
  })

  test('keep the order of plans in a clone', async () => {
    const product = await createProduct()
    const names = ['Free', 'Silver', 'Gold', 'Platinum', 'Zinc', 'Team', 'Basic', 'Annual']
    for (const name of names) await createPlan(product.reference, { name })
    const path = `${products}/${product.reference}/clone`
    const { body } = await call<ProductBody>('POST', path, {})
    expect(body.plans?.map((plan) => plan.name)).toEqual(names)
  })
})

describe('deleting products', () => {
  const remove = (reference: string, key = tenant.sandboxKey) =>
    call<ProductDeletedBody>('DELETE', `${products}/${reference}`, undefined, key)

  test('deletes it in sandbox and ends its purchases', async () => {
    const product = await createProduct()
    await createPlan(product.reference, { default: true })
    await provision(product.reference)
    expect((await remove(product.reference)).body).toEqual({ success: true, action: 'deleted' })
    expect((await remove(product.reference)).status).toBe(404)
    expect((await call('GET', `${products}/${product.reference}`)).status).toBe(404)
    const purchases = await call<{ purchases: PurchaseBody[] }>('GET', '/v1/sdk/purchases')
    const ended = purchases.body.purchases.find((each) => each.productRef === product.reference)
    expect(ended?.status).toBe('expired')
    expect(await publishedOffer(product.reference)).toBeUndefined()
    expect(await eventTypesOf(product.reference)).toEqual(['product.created', 'product.archived'])
  })

  test('hides it in live if it has no purchases', async () => {
    const product = await createProduct({}, tenant.liveKey)
    const { body } = await remove(product.reference, tenant.liveKey)
    expect(body).toEqual({ success: true, action: 'soft_deleted' })
    const path = `${products}/${product.reference}`
    expect((await call('GET', path, undefined, tenant.liveKey)).status).toBe(404)
  })

  test('deactivates it in live if it has purchases, which continue', async () => {
    const product = await createProduct({}, tenant.liveKey)
    await createPlan(product.reference, { default: true }, tenant.liveKey)
    await provision(product.reference, tenant.liveKey)
    const { body } = await remove(product.reference, tenant.liveKey)
    expect(body).toEqual({ success: true, action: 'deactivated' })
    const path = `${products}/${product.reference}`
    const kept = await call<ProductBody>('GET', path, undefined, tenant.liveKey)
    expect(kept.body.status).toBe('inactive')
    const list = await call<{ purchases: PurchaseBody[] }>(
      'GET',
      `/v1/sdk/purchases/product/${product.reference}`,
      undefined,
      tenant.liveKey,
    )
    expect(list.body.purchases.map(({ status }) => status)).toEqual(['active'])
  })
})

describe('plans', () => {
  test('get defaults for omitted fields', async () => {
    const product = await createProduct()
    const plan = await createPlan(product.reference, { price: 1900, requiresPayment: false })
    expect(plan).toMatchObject({
      type: 'recurring',
      price: 1900,
      currency: 'EUR',
      currencySymbol: '€',
      billingCycle: 'monthly',
      requiresPayment: true,
      isActive: true,
      hidden: false,
      default: false,
      status: 'active',
    })
    expect(plan).not.toHaveProperty('meterRef')
    expect(await eventTypesOf(plan.reference)).toEqual(['plan.created'])
    expect((await publishedOffer(product.reference))?.plans).toMatchObject([
      { reference: plan.reference, price: 1900, requiresPayment: true },
    ])
  })

  test('use the requests meter if they are metered', async () => {
    const product = await createProduct()
    const plan = await createPlan(product.reference, {
      type: 'usage-based',
      creditsPerUnit: 100,
      freeUnits: 50,
    })
    expect(plan).toMatchObject({ measures: 'requests', freeUnits: 0, billingModel: 'pre-paid' })
    expect(plan.meterRef).toMatch(/^mtr_/)
    const path = `${products}/${product.reference}/plans/${plan.reference}`
    const changed = await call<PlanBody>('PUT', path, { freeUnits: 5 })
    expect(changed.body).toMatchObject({ freeUnits: 5, creditsPerUnit: 100 })
  })

  test('refuse another currency, and a default plan with a price', async () => {
    const product = await createProduct()
    const path = `${products}/${product.reference}/plans`
    const foreign = await call('POST', path, { name: 'P', currency: 'USD' })
    expect([foreign.status, foreign.body.message]).toEqual([
      400,
      "Plan currency must be the provider's default currency EUR",
    ])
    const paid = await call('POST', path, { name: 'P', price: 1, default: true })
    expect(paid.status).toBe(400)
    expect(await eventTypesOf(product.reference)).toEqual(['product.created'])
  })

  test('have one default per product, also for concurrent requests', async () => {
    const product = await createProduct()
    const plans = await Promise.all(
      Array.from({ length: 6 }, () => createPlan(product.reference, { default: true })),
    )
    const { body } = await call<ProductBody>('GET', `${products}/${product.reference}`)
    expect(body.plans).toHaveLength(plans.length)
    expect(body.plans?.filter((plan) => plan.default)).toHaveLength(1)
  })

  test('respond 400 to price fields that are never charged, also on update', async () => {
    const product = await createProduct()
    const path = `/v1/sdk/products/${product.reference}/plans`
    const pathsOf = (body: unknown) =>
      (body as { errors: { path: unknown[] }[] }).errors.map((each) => each.path)
    const usageTiers = [{ minUsage: 0, creditsPerUnit: 5 }]
    const created = await call('POST', path, { name: 'P', type: 'usage-based', usageTiers })
    expect([created.status, created.body.message]).toEqual([400, 'Validation failed'])
    expect(pathsOf(created.body)).toEqual([['creditsPerUnit'], ['usageTiers']])
    const plan = await createPlan(product.reference, { price: 500 })
    const changed = await call('PUT', `${path}/${plan.reference}`, { price: 49 })
    expect([changed.status, pathsOf(changed.body)]).toEqual([400, [['price']]])
  })

  test('store every given field', async () => {
    const product = await createProduct()
    const given = {
      type: 'hybrid',
      basePrice: 4900,
      setupFee: 500,
      limit: 1000,
      trialDays: 14,
      rolloverUnusedUnits: true,
      features: { seats: 3 },
      limits: { maxUsage: 9 },
      metadata: { a: 'b' },
      usageTiers: [{ name: 't', minUsage: 0, maxUsage: 500, creditsPerUnit: 50 }],
      overagePolicy: { allowOverage: true, overageRate: 80, maxOverage: 5000 },
      pricingOptions: [
        { currency: 'usd', price: 5300 },
        { currency: 'eur', price: 4900, default: true },
      ],
    }
    const plan = await createPlan(product.reference, given)
    expect(plan).toMatchObject({
      ...given,
      price: 4900,
      pricingOptions: [
        { currency: 'USD', price: 5300 },
        { currency: 'EUR', price: 4900, default: true },
      ],
    })
    const path = `${products}/${product.reference}/plans/${plan.reference}`
    expect((await call<PlanBody>('GET', path)).body).toEqual(plan)
  })

  test('are listed in pages', async () => {
    const product = await createProduct()
    for (const name of ['a', 'b', 'c']) await createPlan(product.reference, { name })
    const path = `${products}/${product.reference}/plans?limit=2&offset=1`
    const { body } = await call<{ plans: PlanBody[]; total: number }>('GET', path)
    expect(body).toMatchObject({ total: 3, limit: 2, offset: 1 })
    expect(body.plans.map(({ name }) => name)).toEqual(['b', 'c'])
  })

  test('are deleted without purchases, and archived with purchases', async () => {
    const product = await createProduct()
    const held = await createPlan(product.reference, { default: true })
    const free = await createPlan(product.reference)
    await provision(product.reference)
    const pathOf = (plan: PlanBody) => `${products}/${product.reference}/plans/${plan.reference}`
    expect((await call('DELETE', pathOf(free))).body).toEqual({ success: true })
    expect((await call('GET', pathOf(free))).status).toBe(404)
    expect((await call('DELETE', pathOf(free))).status).toBe(404)
    expect((await call('DELETE', pathOf(held))).body).toEqual({ success: true })
    expect((await call<PlanBody>('GET', pathOf(held))).body).toMatchObject({
      status: 'archived',
      isActive: false,
      default: false,
    })
    expect(await eventTypesOf(held.reference)).toEqual(['plan.created', 'plan.archived'])
    expect((await publishedOffer(product.reference))?.plans).toEqual([])
  })

  test('are not offered if they are hidden or archived', async () => {
    const product = await createProduct()
    await createPlan(product.reference, { hidden: true })
    const plan = await createPlan(product.reference)
    const path = `${products}/${product.reference}/plans/${plan.reference}`
    await call('PUT', path, { status: 'archived' })
    expect((await publishedOffer(product.reference))?.plans).toEqual([])
    expect(await eventTypesOf(plan.reference)).toEqual(['plan.created', 'plan.archived'])
  })

  test("belong to their product: another product's plan is not found", async () => {
    const product = await createProduct()
    const other = await createProduct()
    const plan = await createPlan(other.reference)
    const path = `${products}/${product.reference}/plans/${plan.reference}`
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const { status, body } = await call(method, path, method === 'PUT' ? {} : undefined)
      expect([status, body.message]).toEqual([
        404,
        `Plan with reference ${plan.reference} not found`,
      ])
    }
  })
})
