import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { listOutboxEvents } from '@tollgate/domain/outbox/repository'
import type { Entitlement } from '@tollgate/schemas/hot-state/documents'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import type { LimitsResponse } from '@tollgate/schemas/http/limits'
import type { PlanBody } from '@tollgate/schemas/http/plans'
import type { ProductBody } from '@tollgate/schemas/http/products'
import type { PurchaseBody } from '@tollgate/schemas/http/purchases'
import type { UserInfoResponse } from '@tollgate/schemas/http/user-info'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

let stack: TestStack
let tenant: Tenant
let productRef: string
let customerRef: string

beforeAll(async () => {
  stack = await startTestStack({
    settings: {
      TOLLGATE_COUNTERS_WAIT_MS: '100',
      TOLLGATE_TAIL_RECORDS_MAX: String(tailRecordsMax),
    },
  })
  tenant = await stack.createTenant()
})
afterAll(() => stack.stop())

const tailRecordsMax = 20

let sequence = 0
beforeEach(async () => {
  stack.clock.set('2026-03-10T12:00:00.500Z')
  sequence += 1
  const product = await call<ProductBody>('POST', '/v1/sdk/products', { name: 'API' })
  productRef = product.body.reference
  customerRef = await createCustomer()
})

async function call<Body>(method: string, path: string, body?: unknown, key = tenant.sandboxKey) {
  return stack.call<Body>(key, method, path, body)
}

async function createCustomer(externalRef?: string): Promise<string> {
  sequence += 1
  const fields = { email: `c${sequence}@example.com`, externalRef }
  return (await call<CustomerBody>('POST', '/v1/sdk/customers', fields)).body.reference
}

async function createPlan(fields: object): Promise<string> {
  const path = `/v1/sdk/products/${productRef}/plans`
  const { status, body } = await call<PlanBody>('POST', path, { name: 'Plan', ...fields })
  expect(status).toBe(201)
  return body.reference
}

async function check(ref = customerRef, key = tenant.sandboxKey) {
  return call<LimitsResponse>('POST', '/v1/sdk/limits', { customerRef: ref, productRef }, key)
}

async function use(units: number, ref = customerRef, scope: string | null = productRef) {
  const usage = { providerId: tenant.providerId, customerRef: ref, units }
  await stack.countUsage(scope === null ? usage : { ...usage, productRef: scope })
}

async function purchasesOf(ref = customerRef): Promise<PurchaseBody[]> {
  const path = `/v1/sdk/purchases/customer/${ref}`
  return (await call<{ purchases: PurchaseBody[] }>('GET', path)).body.purchases
}

async function entryOf(ref: string): Promise<Entitlement | undefined> {
  const subject = subjectKey(tenant.providerId, ref)
  const partition = partitionOf(subject, stack.eventLog.partitionCount(usageTopic('sandbox')))
  const at = { space: 'sandbox', partition, subject, scope: productRef }
  const { document } = await stack.hotState.readEntry(at, 'requests')
  return document === undefined ? undefined : (JSON.parse(document) as Entitlement)
}

describe('a customer without a purchase', () => {
  test('gets the free default plan, and usage is counted from then on', async () => {
    const planRef = await createPlan({ default: true, freeUnits: 10, limit: 10 })
    expect((await check()).body).toEqual({
      withinLimits: true,
      remaining: 10,
      plan: planRef,
      meterName: 'requests',
    })
    await use(3)
    expect((await check()).body.remaining).toBe(7)
    await use(7, customerRef, null)
    const { body } = await check()
    expect(body).toMatchObject({
      withinLimits: false,
      remaining: 0,
      plan: planRef,
      product: { reference: productRef, name: 'API' },
    })
    expect(body.plans).toMatchObject([{ reference: planRef, requiresPayment: false }])
    expect(await purchasesOf()).toMatchObject([
      {
        status: 'active',
        origin: 'free_default',
        amount: 0,
        currency: 'USD',
        isRecurring: true,
        autoRenew: true,
        billingCycle: 'monthly',
        startDate: '2026-03-10T12:00:00.000Z',
        nextBillingDate: '2026-04-10T12:00:00.000Z',
        planSnapshot: { reference: planRef, planType: 'recurring', limit: 10, freeUnits: 10 },
        usage: { used: 10, periodStart: '2026-03-10T12:00:00.000Z' },
      },
    ])
  })

  test('gets one purchase for many concurrent checks', async () => {
    await createPlan({ default: true, limit: 5 })
    const answers = await Promise.all(Array.from({ length: 5 }, () => check()))
    expect(answers.map(({ body }) => body.remaining)).toEqual([5, 5, 5, 5, 5])
    const purchases = await purchasesOf()
    expect(purchases).toHaveLength(1)
    const events = await listOutboxEvents(stack.database.in('sandbox'), tenant.providerId, 10_000)
    const created = events.filter(({ object }) => object['id'] === purchases[0]?.reference)
    expect(created).toMatchObject([
      {
        type: 'purchase.created',
        object: {
          status: 'active',
          customer: customerRef,
          product: productRef,
          amount: 0,
          currency: 'usd',
          billingCycle: 'monthly',
          isRecurring: true,
          created: Date.parse('2026-03-10T12:00:00Z') / 1000,
        },
      },
    ])
  })

  test('without a default plan sees the plans on offer', async () => {
    const planRef = await createPlan({ price: 1900 })
    const { status, body } = await check()
    expect(status).toBe(200)
    expect(body).toMatchObject({ withinLimits: false, remaining: 0, plan: '' })
    expect(body.plans).toMatchObject([{ reference: planRef, price: 1900, requiresPayment: true }])
    expect(body).not.toHaveProperty('activationRequired')
    expect(body).not.toHaveProperty('balance')
    expect(await purchasesOf()).toEqual([])
  })

  test('with a usage-based default plan must activate it', async () => {
    const planRef = await createPlan({ type: 'usage-based', creditsPerUnit: 100, default: true })
    expect((await check()).body).toMatchObject({
      withinLimits: false,
      remaining: 0,
      activationRequired: true,
      meterName: 'requests',
      balance: { creditBalance: 0, creditsPerUnit: 100, currency: 'USD' },
      plans: [{ reference: planRef }],
    })
    expect(await purchasesOf()).toEqual([])
  })

  test('is not asked to activate a hidden plan', async () => {
    const terms = { type: 'usage-based', creditsPerUnit: 100, default: true, hidden: true }
    await createPlan(terms)
    const { body } = await check()
    expect(body).toMatchObject({ withinLimits: false, remaining: 0, plan: '', plans: [] })
    expect(body).not.toHaveProperty('activationRequired')
    expect(body).not.toHaveProperty('balance')
  })

  test('gets no free purchase again in the period in which the last one ended', async () => {
    await createPlan({ default: true, limit: 5 })
    await check()
    const [purchase] = await purchasesOf()
    const endedAt = new Date(stack.clock.now())
    await stack.database.in('sandbox')`
      update purchases set status = 'suspended', auto_renew = false, ended_at = ${endedAt}
      where reference = ${purchase?.reference ?? ''}`
    stack.clock.set('2026-04-10T11:59:59.999Z')
    expect((await check()).body).toMatchObject({ withinLimits: false, remaining: 0, plan: '' })
    stack.clock.set('2026-04-10T12:00:00.000Z')
    expect((await check()).body).toMatchObject({ withinLimits: true, remaining: 5 })
    expect(await purchasesOf()).toHaveLength(2)
  })

  test('gets no purchase of an inactive product', async () => {
    await createPlan({ default: true })
    await call('PUT', `/v1/sdk/products/${productRef}`, { status: 'inactive' })
    expect((await check()).body).toMatchObject({ withinLimits: false, plans: [] })
    expect(await purchasesOf()).toEqual([])
  })
})

describe('counting', () => {
  test('never denies a plan without a cap', async () => {
    await createPlan({ default: true })
    await check()
    await use(5_000)
    expect((await check()).body).toMatchObject({ withinLimits: true, remaining: 999_999 })
  })

  test('includes usage under an external reference, also from before the link', async () => {
    await createPlan({ default: true, limit: 10 })
    await use(3, 'own-user-id', null)
    await use(1, 'own-user-id')
    await check()
    await call('PATCH', `/v1/sdk/customers/${customerRef}`, { externalRef: 'own-user-id' })
    expect((await entryOf('own-user-id'))?.customerRefs).toEqual([customerRef, 'own-user-id'])
    expect((await check('own-user-id')).body.remaining).toBe(6)
    await use(1)
    expect((await check()).body.remaining).toBe(5)
    expect(await purchasesOf('own-user-id')).toMatchObject([{ usage: { used: 5 } }])
  })

  test('counts usage of one product separately, and usage without a product for both', async () => {
    const first = productRef
    await createPlan({ default: true, limit: 10 })
    await check()
    productRef = (await call<ProductBody>('POST', '/v1/sdk/products', { name: 'B' })).body.reference
    await createPlan({ default: true, limit: 10 })
    await check()
    await use(3)
    await use(2, customerRef, null)
    expect((await check()).body.remaining).toBe(5)
    productRef = first
    expect((await check()).body.remaining).toBe(8)
  })

  test('starts a new period at its first millisecond', async () => {
    await createPlan({ default: true, limit: 10 })
    await check()
    await use(10)
    stack.clock.set('2026-04-10T11:59:59.999Z')
    expect((await check()).body.withinLimits).toBe(false)
    stack.clock.set('2026-04-10T12:00:00.000Z')
    expect((await check()).body).toMatchObject({ withinLimits: true, remaining: 10 })
  })

  test('does not apply a later edit of the plan to the purchase', async () => {
    const planRef = await createPlan({ default: true, limit: 10 })
    await check()
    await call('PUT', `/v1/sdk/products/${productRef}/plans/${planRef}`, { limit: 1 })
    expect((await check()).body.remaining).toBe(10)
  })

  test('publishes the periods again years later', async () => {
    await createPlan({ default: true, limit: 10 })
    await check()
    stack.clock.set('2029-01-15T00:00:00Z')
    await use(4)
    expect((await check()).body.remaining).toBe(6)
    const second = stack.clock.now() / 1000
    expect((await entryOf(customerRef))?.periods.some((period) => period.endSecond > second)).toBe(
      true,
    )
  })

  test('waits for accepted records, reads them from the log, and refuses if there are too many', async () => {
    await createPlan({ default: true, limit: 10 })
    await check()
    const topic = usageTopic('sandbox')
    const subject = subjectKey(tenant.providerId, customerRef)
    const partition = partitionOf(subject, stack.eventLog.partitionCount(topic))
    const record = { partition, value: new Uint8Array([0]) }
    const [offset] = (await stack.eventLog.appendAll(topic, [record], 0)) as [number]
    expect((await check()).body.remaining).toBe(10)
    const more = Array.from({ length: tailRecordsMax }, () => record)
    await stack.eventLog.appendAll(topic, more, 0)
    const late = await check()
    expect([late.status, late.headers.get('retry-after')]).toEqual([503, '1'])
    await stack.hotState.apply({
      space: 'sandbox',
      partition,
      expectedOffset: offset,
      nextOffset: offset + 1,
      marks: [],
      increments: [],
    })
    const checked = check()
    await stack.hotState.apply({
      space: 'sandbox',
      partition,
      expectedOffset: offset + 1,
      nextOffset: offset + 1 + tailRecordsMax,
      marks: [],
      increments: [],
    })
    expect((await checked).body.remaining).toBe(10)
  })
})

describe('refusals', () => {
  test('responds 404 for an unknown customer or product, also of another provider', async () => {
    const other = await stack.createTenant()
    const notFound = (what: string, ref: string) => ({
      statusCode: 404,
      error: 'Not Found',
      message: `${what} with reference ${ref} not found`,
    })
    expect((await check('nobody')).body).toMatchObject(notFound('Customer', 'nobody'))
    const foreign = await check(customerRef, other.sandboxKey)
    expect(foreign.body).toMatchObject(notFound('Customer', customerRef))
    const crossed = await check(customerRef, tenant.liveKey)
    expect(crossed.body).toMatchObject(notFound('Customer', customerRef))
    productRef = 'prd_NOBODYS'
    expect((await check()).body).toMatchObject(notFound('Product', productRef))
  })

  test.each([{}, { customerRef: '', productRef: 'p' }, { customerRef: 'c', productRef: 7 }])(
    'refuses %j',
    async (body) => {
      const answer = await call<object>('POST', '/v1/sdk/limits', body)
      expect(answer.body).toMatchObject({ statusCode: 400, message: 'Validation failed' })
    },
  )
})

describe('user info', () => {
  const userInfo = (ref: string) =>
    call<UserInfoResponse>('POST', '/v1/sdk/user-info', { customerRef: ref, productRef })

  test('shows the purchase with its usage', async () => {
    await createPlan({ default: true, limit: 1000, features: { seats: 3 } })
    await check()
    await use(250)
    expect((await userInfo(customerRef)).body).toMatchObject({
      status: 'Active subscription: API (25% usage consumed)',
      verifyUrl: expect.stringContaining('/customer/manage?id=') as unknown,
      user: { reference: customerRef, name: null, externalRef: null },
      purchase: {
        status: 'active',
        productName: 'API',
        planType: 'recurring',
        usage: { total: 1000, used: 250, remaining: 750, percentUsed: 25 },
        plan: { price: 0, currency: 'USD', features: { seats: 3 }, limits: null },
      },
    })
  })

  test('shows only the user if there is no purchase', async () => {
    const { status, body } = await userInfo(customerRef)
    expect(status).toBe(200)
    expect(body.user?.reference).toBe(customerRef)
    expect(body).not.toHaveProperty('purchase')
    expect((await userInfo('nobody')).status).toBe(404)
  })
})

describe('purchases', () => {
  test('are filtered, and free ones can be omitted', async () => {
    await createPlan({ default: true })
    await check()
    const list = async (query: string) =>
      (await call<{ purchases: PurchaseBody[] }>('GET', `/v1/sdk/purchases${query}`)).body.purchases
    const [purchase] = await list(`?customerRef=${customerRef}`)
    expect(purchase).toMatchObject({ customerRef, productRef, productName: 'API' })
    expect(await list(`?productRef=${productRef}&status=active`)).toHaveLength(1)
    expect(await list(`?customerRef=${customerRef}&status=expired`)).toEqual([])
    expect(await list(`?customerRef=${customerRef}&includeFree=false`)).toEqual([])
    expect(await list('?customerRef=nobody')).toEqual([])
    const path = `/v1/sdk/purchases/${purchase?.reference}`
    expect((await call<PurchaseBody>('GET', path)).body).toEqual(purchase)
    expect((await call('GET', path, undefined, tenant.liveKey)).body).toMatchObject({
      statusCode: 404,
      error: 'Not Found',
      message: `Purchase with reference ${purchase?.reference} not found`,
    })
    const customer = await call<CustomerBody>('GET', `/v1/sdk/customers/${customerRef}`)
    expect(customer.body.purchases).toMatchObject([
      { reference: purchase?.reference, origin: 'free_default', planType: 'recurring' },
    ])
    for (const kind of ['customer', 'product']) {
      expect((await call('GET', `/v1/sdk/purchases/${kind}/nobody`)).status).toBe(404)
    }
  })
})
