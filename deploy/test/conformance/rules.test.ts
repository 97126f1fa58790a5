import { afterAll, describe, expect, test } from 'vitest'
import { text } from './shapes.ts'
import { openShop } from './shop.ts'
import { startWorld } from './world.ts'

/* The rules on which clients rely, one table for each, through the public address. */

const world = await startWorld()
const shop = openShop(world.client)
afterAll(() => world.stack.stop())

async function answerTo(row: string, body: object, status = 200): Promise<unknown> {
  const answer = await world.call(row, body)
  expect([answer.status, answer.body]).toEqual([status, expect.anything()])
  return answer.body
}

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()

describe('validation limits of usage', () => {
  const usage = { customerRef: 'someone' }
  const accepted: readonly object[] = [
    { ...usage, timestamp: inDays(0.99) },
    { ...usage, timestamp: inDays(-29.99) },
    { ...usage, units: 0 },
    { ...usage, units: 100_000 },
    { ...usage, outcome: 'paywall', actionType: 'storage' },
    { ...usage, idempotencyKey: 'k'.repeat(256) },
    { ...usage, planRef: 'fields that we do not know are ignored' },
  ]
  test.each(accepted)('accept %j', async (body) => {
    await answerTo('POST /v1/sdk/usages', body)
    await answerTo('POST /v1/sdk/usages/bulk', { events: [body] })
  })

  const refused: readonly object[] = [
    { ...usage, timestamp: inDays(1.01) },
    { ...usage, timestamp: inDays(-30.01) },
    { ...usage, timestamp: 'yesterday' },
    { ...usage, units: -1 },
    { ...usage, units: 100_001 },
    { ...usage, units: 0.5 },
    { ...usage, outcome: 'maybe' },
    { ...usage, actionType: 'dance' },
    { ...usage, idempotencyKey: 'k'.repeat(257) },
    { customerRef: '' },
    {},
  ]
  test.each(refused)('refuse %j, and a whole batch that contains it', async (body) => {
    const invalid = { statusCode: 400, message: 'Validation failed' }
    const single = await answerTo('POST /v1/sdk/usages', body, 400)
    expect(single).toMatchObject({ ...invalid, path: '/v1/sdk/usages' })
    const bulk = await answerTo('POST /v1/sdk/usages/bulk', { events: [usage, body] }, 400)
    expect(bulk).toMatchObject({ ...invalid, path: '/v1/sdk/usages/bulk' })
  })

  test('accept 1000 records, and no more', async () => {
    const events = (count: number) => ({ events: Array.from({ length: count }, () => usage) })
    expect(await answerTo('POST /v1/sdk/usages/bulk', events(1000))).toMatchObject({
      inserted: 1000,
    })
    await answerTo('POST /v1/sdk/usages/bulk', events(1001), 400)
  })
})

describe('the cap of a plan', () => {
  const unlimited = 999_999
  const free = { type: 'recurring', price: 0 }
  const postPaid = { type: 'usage-based', billingModel: 'post-paid', creditsPerUnit: 1 }
  const rows: readonly (readonly [plan: object, remaining: number])[] = [
    [{ ...free, limit: 10 }, 10],
    [{ ...free, limit: 10, freeUnits: 10 }, 10],
    [{ ...free, freeUnits: 7 }, 7],
    [{ ...free, limit: 0, freeUnits: 0 }, unlimited],
    [{ ...postPaid, limit: 10, freeUnits: 5 }, 10],
    [{ ...postPaid, freeUnits: 5 }, unlimited],
    [{ type: 'usage-based', billingModel: 'pre-paid', price: 0, creditsPerUnit: 0 }, unlimited],
    [{ type: 'one-time', price: 0, limit: 3 }, 3],
    [{ type: 'one-time', price: 0, limits: { maxTransactions: 4 } }, 4],
  ]
  test.each(rows)('%j: %i', async (plan, remaining) => {
    const { productRef, planRef } = await shop.sell(plan)
    const customerRef = await shop.newCustomer()
    const activated = await answerTo('POST /v1/sdk/activate', { customerRef, productRef, planRef })
    expect(activated).toMatchObject({ status: 'activated' })
    const check = () => answerTo('POST /v1/sdk/limits', { customerRef, productRef })
    expect(await check()).toMatchObject({ withinLimits: true, remaining, plan: planRef })
    await answerTo('POST /v1/sdk/usages', { customerRef, productRef, units: 2 })
    const left = remaining === unlimited ? unlimited : remaining - 2
    expect(await check()).toMatchObject({ withinLimits: true, remaining: left })
    if (remaining === unlimited) return
    await answerTo('POST /v1/sdk/usages', { customerRef, productRef, units: left + 1 })
    const denied = { withinLimits: false, remaining: 0, product: { reference: productRef } }
    expect(await check()).toMatchObject({ ...denied, plans: [{ reference: planRef }] })
  })
})

describe('a limit check without a purchase', () => {
  const hosted = { checkoutUrl: text, checkoutSessionId: text }
  const usageBased = { type: 'usage-based', billingModel: 'pre-paid', creditsPerUnit: 100 }
  const rows: readonly (readonly [string, plan: object, answer: object])[] = [
    [
      'puts the customer on a free default plan',
      { price: 0, limit: 5, default: true },
      { withinLimits: true, remaining: 5, meterName: 'requests' },
    ],
    [
      'asks to activate a default plan that is paid by use',
      { ...usageBased, default: true },
      {
        withinLimits: false,
        remaining: 0,
        activationRequired: true,
        balance: { creditBalance: 0, creditsPerUnit: 100, currency: 'USD' },
        confirmationUrl: text,
      },
    ],
    [
      'shows the plans on offer if there is no default plan',
      { price: 900 },
      { withinLimits: false, remaining: 0, plan: '', ...hosted },
    ],
  ]
  test.each(rows)('%s', async (_what, plan, answer) => {
    const { productRef } = await shop.sell(plan)
    const request = { customerRef: await shop.newCustomer(), productRef }
    const plain = await answerTo('POST /v1/sdk/limits', request)
    // Polling must not create checkout sessions.
    for (const field of ['checkoutUrl', 'checkoutSessionId', 'confirmationUrl']) {
      expect(plain).not.toHaveProperty(field)
    }
    const withSession = { ...request, includeCheckoutSession: true }
    expect(await answerTo('POST /v1/sdk/limits', withSession)).toMatchObject(answer)
  })

  test('creates one purchase for concurrent first checks', async () => {
    const { productRef } = await shop.sell({ price: 0, default: true })
    const customerRef = await shop.newCustomer()
    const request = { customerRef, productRef }
    await Promise.all(Array.from({ length: 5 }, () => answerTo('POST /v1/sdk/limits', request)))
    const { body } = await world.call(`GET /v1/sdk/purchases/customer/${customerRef}`)
    expect(body).toMatchObject({ purchases: [{ productRef, isRecurring: true }] })
  })
})

describe('credits in the response to a usage record', () => {
  const rows: readonly (readonly [string, usage: object, debit: unknown])[] = [
    ['outcome not success', { outcome: 'fail', productRef: '{productRef}' }, undefined],
    ['no productRef', {}, { debited: false, reason: 'no_product_ref' }],
    [
      'unknown customer',
      { customerRef: 'nobody', productRef: '{productRef}' },
      { debited: false, reason: 'customer_not_found' },
    ],
    [
      'plan without credit pricing',
      { customerRef: '{customerRef}', productRef: '{productRef}' },
      { debited: false, reason: 'plan_not_credit_based' },
    ],
    [
      'product without a purchase',
      { productRef: '{otherProductRef}' },
      { debited: false, reason: 'no_active_purchase' },
    ],
    [
      'an empty wallet',
      { productRef: '{productRef}' },
      { debited: true, amount: 0, unitsRemaining: 0 },
    ],
  ]
  test.each(rows)('are as specified for %s', async (_what, usage, debit) => {
    const body = { customerRef: '{creditCustomerRef}', ...usage }
    const { creditDebit } = (await answerTo('POST /v1/sdk/usages', body)) as {
      creditDebit?: unknown
    }
    expect(creditDebit).toEqual(debit)
  })
})

describe('creating a customer', () => {
  const first = { email: 'grace@acme.example', externalRef: 'user_grace' }
  const rows: readonly (readonly [string, body: object, status: number])[] = [
    ['new', first, 201],
    ['the same email and externalRef', { ...first, name: 'Grace' }, 201],
    ['the email in other letters', { ...first, email: 'GRACE@acme.example' }, 201],
    ['an externalRef that another email has', { ...first, email: 'other@acme.example' }, 201],
    ['an email that is linked to another', { ...first, externalRef: 'user_else' }, 409],
    ['an email without an externalRef', { email: first.email }, 409],
    ['a made-up address', { email: 'user x-17@auto-created.local' }, 201],
  ]
  test.each(rows)('%s', async (_what, body, status) => {
    const answer = await answerTo('POST /v1/sdk/customers', body, status)
    const conflict = expect.stringMatching(/email .*already exists/) as unknown
    expect(answer).toMatchObject(status === 201 ? { reference: text } : { message: conflict })
    const { body: found } = await world.call('GET /v1/sdk/customers?externalRef=user_grace')
    expect(found).toMatchObject(first)
  })
})

describe('creating a plan', () => {
  const option = { currency: 'eur', price: 900 }
  const rows: readonly (readonly [input: object, plan: object])[] = [
    [
      { price: 0, requiresPayment: true },
      { requiresPayment: false, type: 'recurring' },
    ],
    [{ price: 50 }, { requiresPayment: true, billingCycle: 'monthly', currency: 'USD' }],
    [
      { price: 50, type: 'one-time' },
      { type: 'one-time', requiresPayment: true },
    ],
    [
      { type: 'usage-based', billingModel: 'pre-paid', creditsPerUnit: 5, freeUnits: 9 },
      { requiresPayment: true, freeUnits: 0, measures: 'requests', meterRef: '{meterRef}' },
    ],
    [
      { type: 'usage-based', billingModel: 'post-paid', price: 0, freeUnits: 9 },
      { freeUnits: 9, billingCycle: 'monthly' },
    ],
    [
      { type: 'hybrid', price: 0, basePrice: 500 },
      { requiresPayment: true, basePrice: 500 },
    ],
    [
      { pricingOptions: [{ currency: 'usd', price: 1000 }, option] },
      { price: 1000, currency: 'USD', pricingOptions: [{ currency: 'USD' }, { currency: 'EUR' }] },
    ],
    [
      { price: 50, setupFee: 100, trialDays: 7 },
      { setupFee: 100, trialDays: 7 },
    ],
    [
      { price: 0, hidden: true, status: 'inactive' },
      { hidden: true, isActive: false },
    ],
  ]
  test.each(rows)('%j', async (input, plan) => {
    const row = 'POST /v1/sdk/products/{productRef}/plans'
    const given = await answerTo(row, { name: 'Plan', ...input }, 201)
    expect(given).toMatchObject(world.filled(plan) as object)
  })

  test.each([
    { name: 'Default and paid', price: 900, default: true },
    { name: 'Another currency', price: 900, currency: 'EUR' },
    { name: '' },
  ])('refuses %j', async (input) => {
    await answerTo('POST /v1/sdk/products/{productRef}/plans', input, 400)
  })
})

describe('authentication', () => {
  test.each(['', 'sk_live_unknown', 'nonsense'])('refuses the key %j', async (key) => {
    const client = world.stack.clientWithKey(key)
    for (const path of ['/v1/sdk/products', '/v1/sdk/merchant']) {
      const { status, body } = await client.send('GET', path)
      const message = expect.stringContaining('Invalid or expired secret key') as string
      expect(status).toBe(401)
      expect(body).toMatchObject({ statusCode: 401, error: 'Unauthorized', message })
    }
    expect((await client.send('POST', '/v1/sdk/usages', { customerRef: 'u' })).status).toBe(401)
  })
})
