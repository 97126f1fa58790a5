import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { listOutboxEvents } from '@tollgate/domain/outbox/repository'
import type { ActivateResponse } from '@tollgate/schemas/http/activate'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import type { LimitsResponse } from '@tollgate/schemas/http/limits'
import type { PlanBody } from '@tollgate/schemas/http/plans'
import type { ProductBody } from '@tollgate/schemas/http/products'
import type { PurchaseBody, PurchaseBriefBody } from '@tollgate/schemas/http/purchases'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/* Activating, cancelling and reactivating purchases over HTTP, with the events of these changes. */

type Changed = { success: boolean; purchase: PurchaseBriefBody }

let stack: TestStack
let tenant: Tenant
let productRef: string
let customerRef: string
let seenEvents = 0
let sequence = 0

beforeAll(async () => {
  // The stack emits no events for changes that only time causes.
  stack = await startTestStack()
  tenant = await stack.createTenant()
})
afterAll(() => stack.stop())

beforeEach(async () => {
  stack.clock.set('2026-01-31T12:00:00Z')
  sequence += 1
  const product = await call<ProductBody>('POST', '/v1/sdk/products', { name: 'API' })
  productRef = product.body.reference
  const email = `c${sequence}@example.com`
  const customer = await call<CustomerBody>('POST', '/v1/sdk/customers', { email })
  customerRef = customer.body.reference
  await eventsSince()
})

function call<Body>(method: string, path: string, body?: unknown) {
  return stack.call<Body>(tenant.sandboxKey, method, path, body)
}

async function createPlan(fields: object): Promise<string> {
  const path = `/v1/sdk/products/${productRef}/plans`
  const { body } = await call<PlanBody>('POST', path, { name: 'Plan', ...fields })
  await eventsSince()
  return body.reference
}

async function activate(planRef: string) {
  const body = { customerRef, productRef, planRef }
  return (await call<ActivateResponse>('POST', '/v1/sdk/activate', body)).body
}

function cancel(purchaseRef: string, body?: unknown) {
  return call<Changed>('POST', `/v1/sdk/purchases/${purchaseRef}/cancel`, body)
}

function reactivate(purchaseRef: string) {
  return call<Changed>('POST', `/v1/sdk/purchases/${purchaseRef}/reactivate`)
}

async function purchase(reference: string): Promise<PurchaseBody> {
  return (await call<PurchaseBody>('GET', `/v1/sdk/purchases/${reference}`)).body
}

async function check(extra: object = {}) {
  const body = { customerRef, productRef, ...extra }
  return (await call<LimitsResponse>('POST', '/v1/sdk/limits', body)).body
}

/** Returns the events since the last call. */
async function eventsSince() {
  const pool = stack.database.in('sandbox')
  const events = await listOutboxEvents(pool, tenant.providerId, 100_000)
  const fresh = events.slice(seenEvents)
  seenEvents = events.length
  return fresh.map(({ type, object, previousAttributes }) => ({ type, object, previousAttributes }))
}

async function eventTypes(): Promise<string[]> {
  return (await eventsSince()).map(({ type }) => type)
}

/** Changes the purchase as after a paid renewal: an amount was paid, and the next one is due on 28 February. */
async function markAsPaid(purchaseRef: string): Promise<void> {
  await stack.database.in('sandbox')`
    update purchases set amount = 1900, origin = 'paid' where reference = ${purchaseRef}`
}

describe('activate', () => {
  test.each([
    ['free', { type: 'recurring', price: 0 }, {}],
    [
      'usage-based',
      { type: 'usage-based', creditsPerUnit: 100 },
      { creditBalance: 0, creditsPerUnit: 100, currency: 'USD' },
    ],
  ])('starts a %s plan at once', async (_, fields, extra) => {
    const planRef = await createPlan(fields)
    const activated = await activate(planRef)
    const { purchaseRef } = activated
    expect(activated).toEqual({ status: 'activated', purchaseRef, ...extra })
    const kept = await purchase(purchaseRef!)
    expect(kept).toMatchObject({ status: 'active', customerRef, origin: 'manual' })
    expect(await eventTypes()).toEqual(['purchase.created'])
    expect(await activate(planRef)).toEqual({ status: 'already_active', purchaseRef })
    expect(await eventTypes()).toEqual([])
  })

  test.each([
    ['recurring', { type: 'recurring', price: 1900, setupFee: 500 }, 2400],
    ['hybrid', { type: 'hybrid', basePrice: 4900, creditsPerUnit: 50 }, 4900],
    ['one-time', { type: 'one-time', price: 700 }, 700],
  ])(
    'returns a checkout for a paid %s plan, and changes nothing else',
    async (_, fields, amount) => {
      const free = await createPlan({ price: 0 })
      const held = await activate(free)
      const planRef = await createPlan(fields)
      const answer = await activate(planRef)
      expect(answer.status).toBe('payment_required')
      expect(answer.checkoutSessionId).toMatch(/^[0-9a-f]{32}$/)
      expect(answer.checkoutUrl).toMatch(`/customer/checkout?id=${answer.checkoutSessionId}`)
      expect(answer).not.toHaveProperty('purchaseRef')
      expect((await purchase(held.purchaseRef!)).status).toBe('active')
      const [created, ...others] = await eventsSince()
      expect(others).toEqual([])
      expect(created).toMatchObject({
        type: 'checkout_session.created',
        object: { status: 'active', amount, currency: 'usd', customer: customerRef, plan: planRef },
      })
      const { expires_at: expires, created: at } = created!.object as Record<string, number>
      expect(expires! - at!).toBe(900)
    },
  )

  test('replaces the first plan by another one', async () => {
    const first = await createPlan({ price: 0, limit: 5 })
    const second = await createPlan({ type: 'usage-based', creditsPerUnit: 1 })
    const old = await activate(first)
    await eventsSince()
    const fresh = await activate(second)
    expect((await purchase(old.purchaseRef!)).status).toBe('expired')
    expect((await purchase(fresh.purchaseRef!)).status).toBe('active')
    const events = await eventsSince()
    expect(events.map(({ type }) => type)).toEqual([
      'purchase.expired',
      'purchase.created',
      'purchase.plan_changed',
    ])
    expect(events[2]).toMatchObject({
      object: { reference: fresh.purchaseRef, plan: second },
      previousAttributes: { plan: first },
    })
    expect((await check()).plan).toBe(second)
  })

  test('does not give a former free plan again in its period', async () => {
    const free = await createPlan({ price: 0, limit: 5, default: true })
    const other = await createPlan({ type: 'usage-based', creditsPerUnit: 1 })
    expect((await check()).plan).toBe(free)
    const { purchaseRef } = await activate(other)
    expect(await activate(free)).toMatchObject({ status: 'invalid' })
    expect((await purchase(purchaseRef!)).status).toBe('active')
    await cancel(purchaseRef!)
    expect(await check()).toMatchObject({ withinLimits: false, plan: '' })
    stack.clock.set('2026-02-28T12:00:00Z')
    expect(await check()).toMatchObject({ withinLimits: true, remaining: 5, plan: free })
  })

  test('gives a free plan without a cap any number of times', async () => {
    const free = await createPlan({ price: 0 })
    const other = await createPlan({ price: 0 })
    for (const planRef of [free, other, free]) {
      expect((await activate(planRef)).status).toBe('activated')
    }
  })

  test.each([
    ['archived', { status: 'archived' }],
    ['inactive', { status: 'inactive' }],
    ['hidden', { hidden: true }],
  ])('refuses a plan that is %s', async (_, change) => {
    const planRef = await createPlan({ price: 0 })
    await call('PUT', `/v1/sdk/products/${productRef}/plans/${planRef}`, change)
    const { status, message } = await activate(planRef)
    expect({ status, hasMessage: message !== undefined }).toEqual({
      status: 'invalid',
      hasMessage: true,
    })
  })

  test('refuses an unknown plan or product, and responds 404 for an unknown customer', async () => {
    const planRef = await createPlan({ price: 0 })
    expect((await activate('pln_UNKNOWN')).status).toBe('invalid')
    const elsewhere = { customerRef, productRef: 'prd_UNKNOWN', planRef }
    const inProduct = await call<ActivateResponse>('POST', '/v1/sdk/activate', elsewhere)
    expect(inProduct.body.status).toBe('invalid')
    const nobody = { customerRef: 'nobody', productRef, planRef }
    const { status, body } = await call<object>('POST', '/v1/sdk/activate', nobody)
    expect({ status, message: body.message }).toEqual({
      status: 404,
      message: 'Customer with reference nobody not found',
    })
  })

  test('creates one purchase for concurrent requests', async () => {
    const planRef = await createPlan({ price: 0 })
    const answers = await Promise.all(Array.from({ length: 8 }, () => activate(planRef)))
    expect(new Set(answers.map(({ purchaseRef }) => purchaseRef)).size).toBe(1)
    expect(answers.filter(({ status }) => status === 'activated')).toHaveLength(1)
    expect(await eventTypes()).toEqual(['purchase.created'])
  })
})

describe('cancel', () => {
  test('keeps a renewing purchase until its period ends', async () => {
    const planRef = await createPlan({ price: 0, limit: 5 })
    const { purchaseRef } = await activate(planRef)
    await markAsPaid(purchaseRef!)
    await eventsSince()
    stack.clock.set('2026-02-10T00:00:00Z')
    const { status, body } = await cancel(purchaseRef!, { reason: 'too dear' })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      success: true,
      purchase: {
        reference: purchaseRef,
        status: 'active',
        cancelledAt: '2026-02-10T00:00:00.000Z',
        cancellationReason: 'too dear',
        endDate: '2026-02-28T12:00:00.000Z',
      },
    })
    expect(body.purchase, 'the answer is the whole purchase').toMatchObject(
      await purchase(purchaseRef!),
    )
    expect(await purchase(purchaseRef!)).toMatchObject({ autoRenew: false, status: 'active' })
    expect(await eventTypes()).toEqual(['purchase.cancellation_scheduled'])
    stack.clock.set('2026-02-28T11:59:59.999Z')
    expect((await check()).withinLimits).toBe(true)
    stack.clock.set('2026-02-28T12:00:00Z')
    expect((await check()).withinLimits).toBe(false)
  })

  test('accepts a second cancellation, also with an empty JSON body', async () => {
    const { purchaseRef } = await activate(await createPlan({ price: 0 }))
    const first = await cancel(purchaseRef!)
    await eventsSince()
    stack.clock.set('2026-02-01T00:00:00Z')
    const second = await cancel(purchaseRef!, { reason: 'again' })
    expect(second.body).toEqual(first.body)
    expect(await eventTypes()).toEqual([])
  })

  test('gives no further access for a due period that is not paid', async () => {
    const { purchaseRef } = await activate(await createPlan({ price: 0 }))
    await markAsPaid(purchaseRef!)
    stack.clock.set('2026-02-28T12:00:00Z')
    const { body } = await cancel(purchaseRef!)
    expect(body.purchase.status).toBe('cancelled')
  })

  test('ends a purchase that does not renew at once', async () => {
    const { purchaseRef } = await activate(await createPlan({ type: 'one-time', price: 0 }))
    await eventsSince()
    const { body } = await cancel(purchaseRef!)
    expect(body.purchase).toMatchObject({ status: 'cancelled', origin: 'one_time' })
    expect(await eventTypes()).toEqual(['purchase.cancelled'])
    expect((await check()).withinLimits).toBe(false)
  })

  test('refuses to cancel a purchase that another plan replaced', async () => {
    const { purchaseRef } = await activate(await createPlan({ price: 0 }))
    await activate(await createPlan({ price: 0 }))
    const { status, body } = await cancel(purchaseRef!)
    expect({ status, message: body.message }).toEqual({
      status: 400,
      message: `Purchase ${purchaseRef} is expired and cannot be cancelled`,
    })
  })

  test('begins a new purchase in the period after a cancelled free plan', async () => {
    const planRef = await createPlan({ default: true, price: 0 })
    await check()
    const [held] = (await customerBody()).purchases ?? []
    await cancel(held!.reference)
    await eventsSince()
    stack.clock.set('2026-02-28T12:00:00Z')
    expect(await check()).toMatchObject({ withinLimits: true, plan: planRef })
    expect((await purchase(held!.reference)).status).toBe('cancelled')
    expect(await eventTypes()).toEqual(['purchase.cancelled', 'purchase.created'])
  })
})

describe('reactivate', () => {
  test('withdraws a pending cancellation', async () => {
    const { purchaseRef } = await activate(await createPlan({ price: 0 }))
    const before = await purchase(purchaseRef!)
    await cancel(purchaseRef!, { reason: 'oops' })
    await eventsSince()
    const { body } = await reactivate(purchaseRef!)
    expect(body.success).toBe(true)
    expect(body.purchase).not.toHaveProperty('cancelledAt')
    expect(body.purchase).not.toHaveProperty('cancellationReason')
    expect(await purchase(purchaseRef!)).toEqual(before)
    expect(await eventTypes()).toEqual(['purchase.reactivated'])
  })

  test.each<[string, string, (ref: string) => Promise<unknown>]>([
    ['never cancelled', 'is not pending cancellation', () => Promise.resolve()],
    [
      'cancelled at once',
      'has already been fully cancelled',
      async (ref) => {
        await markAsPaid(ref)
        stack.clock.set('2026-02-28T12:00:00Z')
        await cancel(ref)
      },
    ],
    [
      'past its end',
      'has already ended',
      async (ref) => {
        await cancel(ref)
        stack.clock.set('2026-02-28T12:00:00Z')
      },
    ],
  ])('refuses a purchase that was %s', async (_, words, act) => {
    const { purchaseRef } = await activate(await createPlan({ price: 0 }))
    await act(purchaseRef!)
    const { status, body } = await reactivate(purchaseRef!)
    expect(status).toBe(400)
    expect(body.message).toBe(`Purchase ${purchaseRef} ${words}`)
  })

  test('refuses a suspended purchase', async () => {
    const { purchaseRef } = await activate(await createPlan({ price: 0 }))
    await stack.database.in('sandbox')`
      update purchases set status = 'suspended' where reference = ${purchaseRef!}`
    const { body } = await reactivate(purchaseRef!)
    expect(body.message).toBe(`Purchase ${purchaseRef} is suspended and cannot be reactivated`)
  })
})

test('leaves one of the two states after concurrent cancel and reactivate requests', async () => {
  const { purchaseRef } = await activate(await createPlan({ price: 0 }))
  await cancel(purchaseRef!)
  await Promise.all([reactivate(purchaseRef!), cancel(purchaseRef!), reactivate(purchaseRef!)])
  const kept = await purchase(purchaseRef!)
  expect(kept.cancelledAt === undefined).toBe(kept.autoRenew)
  expect(kept.endDate === undefined).toBe(kept.autoRenew)
})

async function customerBody(): Promise<CustomerBody> {
  return (await call<CustomerBody>('GET', `/v1/sdk/customers/${customerRef}`)).body
}
