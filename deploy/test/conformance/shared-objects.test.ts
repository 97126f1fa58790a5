import { afterAll, describe, expect, test } from 'vitest'
import { startStack } from '../stack.ts'
import { iso, startingWith } from './shapes.ts'
import { openShop } from './shop.ts'

/* Objects that several operations return: which of their fields are optional, and that fields which were set are returned. */

const stack = await startStack()
const shop = openShop((await stack.createProvider()).sandbox)
afterAll(() => stack.stop())

describe('a product', () => {
  const bare = {
    reference: startingWith('prd_'),
    name: 'Reports',
    status: 'active',
    balance: 0,
    totalTransactions: 0,
    isMcpPay: false,
    metadata: {},
    plans: [],
    createdAt: iso,
    updatedAt: iso,
  }
  const optional = {
    description: 'Finds things',
    imageUrl: 'https://acme.example/reports.png',
    productType: 'api',
    config: { deliveryMethod: 'api', fulfillmentType: 'digital', validityPeriod: 30, own: true },
    metadata: { team: 'search', nested: { list: [1, null, 'x'] } },
    taxBehavior: 'inclusive',
  }
  const rows: readonly (readonly [what: string, given: object])[] = [
    ['nothing but its type', {}],
    ...Object.entries(optional).map(([field, value]) => [field, { [field]: value }] as const),
    ['everything', optional],
  ]
  test.each(rows)('stores and returns a product with %s', async (_, given) => {
    const product = { ...bare, ...given }
    const fields = { name: 'Reports', ...given }
    const created = await shop.post<{ reference: string }>('/v1/sdk/products', fields, 201)
    expect(created).toEqual(product)
    const path = `/v1/sdk/products/${created.reference}`
    expect(await shop.get(path)).toEqual(created)
    const list = await shop.get<{ products: unknown[] }>('/v1/sdk/products?limit=1')
    expect(list.products).toEqual([created])
    const renamed = await shop.put<object>(path, { name: 'Reports' })
    expect(renamed).toEqual({ ...created, updatedAt: iso })
    await shop.delete(path)
  })

  test('updates single fields and keeps the others', async () => {
    const path = `/v1/sdk/products/${await shop.newProduct({ name: 'Reports' })}`
    for (const [field, value] of Object.entries(optional)) await shop.put(path, { [field]: value })
    expect(await shop.get(path)).toEqual({ ...bare, ...optional })
  })
})

test('shows the address of a product that is an MCP server', async () => {
  const originUrl = 'https://mcp.acme.example/mcp'
  const request = { originUrl, name: 'Tools', mcpDomain: 'tools', tools: [{ name: 'search' }] }
  const path = '/v1/sdk/products/mcp/bootstrap'
  const { product, mcpServer } = await shop.post<{
    product: { reference: string; plans: { reference: string }[] }
    mcpServer: { reference: string }
  }>(path, request, 201)
  const mcp = {
    mcpServerRef: mcpServer.reference,
    mcpSubdomain: 'tools',
    mcpProxyUrl: expect.stringMatching(/^https?:\/\/.*tools.*\/mcp$/) as unknown,
    originUrl,
    defaultPlanRef: product.plans[0]?.reference,
  }
  expect(product).toMatchObject({ isMcpPay: true, mcp })
  expect(await shop.get(`/v1/sdk/products/${product.reference}`)).toEqual(product)
})

describe('a plan', () => {
  const bare = {
    reference: startingWith('pln_'),
    name: 'Pro',
    type: 'hybrid',
    price: 0,
    currency: 'USD',
    currencySymbol: '$',
    requiresPayment: expect.any(Boolean) as unknown,
    measures: 'requests',
    meterRef: startingWith('mtr_'),
    isActive: true,
    hidden: false,
    default: false,
    status: 'active',
    billingCycle: 'monthly',
    createdAt: iso,
    updatedAt: iso,
  }
  const optional = {
    description: 'For teams',
    billingCycle: 'yearly',
    setupFee: 500,
    basePrice: 100,
    freeUnits: 5,
    limit: 1000.5,
    trialDays: 14,
    rolloverUnusedUnits: true,
    autoRenew: false,
    usageTracking: { method: 'automatic', granularity: 'daily' },
    limits: { maxTransactions: 10, maxUsage: 20, own: 'kept' },
    features: { support: 'email', seats: 3 },
    metadata: { tier: 'gold' },
    maxActiveUsers: 0,
    accessExpiryDays: 90,
    hidden: true,
    taxBehavior: 'exclusive',
    usageTiers: [
      { name: 'first', minUsage: 0, maxUsage: 100, creditsPerUnit: 2 },
      { minUsage: 100, maxUsage: null, creditsPerUnit: 0.5 },
    ],
    overagePolicy: { allowOverage: true, overageRate: 3, maxOverage: 50 },
    billingStrategy: 'usage_first',
    prorationPolicy: 'proportional',
    pricingTiers: [{ upTo: 10, price: 100 }],
    cancellationNoticeDays: 0,
    availability: { startDate: '2026-04-01' },
    fulfillment: { type: 'digital' },
    warranty: '30 days',
    returnPolicy: { days: 14 },
    isRecurring: true,
  }
  const rows: readonly (readonly [what: string, given: object])[] = [
    ['nothing but its type', {}],
    ...Object.entries(optional).map(([field, value]) => [field, { [field]: value }] as const),
    ['everything', optional],
  ]
  test.each(rows)('stores and returns a plan with %s', async (_, given) => {
    const productRef = await shop.newProduct()
    const plans = `/v1/sdk/products/${productRef}/plans`
    const created = await shop.post<{ reference: string }>(
      plans,
      { name: 'Pro', type: 'hybrid', ...given },
      201,
    )
    expect(created).toEqual({ ...bare, ...given })
    expect(await shop.get(`${plans}/${created.reference}`)).toEqual(created)
    expect(await shop.get(plans)).toMatchObject({ plans: [created], total: 1 })
    expect(await shop.get(`/v1/sdk/products/${productRef}`)).toMatchObject({ plans: [created] })
    await shop.delete(`/v1/sdk/products/${productRef}`)
  })

  test('updates single fields and keeps the others', async () => {
    const { productRef, planRef } = await shop.sell({ name: 'Pro', type: 'hybrid' })
    const path = `/v1/sdk/products/${productRef}/plans/${planRef}`
    for (const [field, value] of Object.entries(optional)) await shop.put(path, { [field]: value })
    expect(await shop.get(path)).toEqual({ ...bare, ...optional })
  })

  const metered = { measures: 'requests', meterRef: startingWith('mtr_') }
  const derived: readonly (readonly [given: object, derived: object])[] = [
    [{ type: 'hybrid', creditsPerUnit: 2 }, metered],
    [{ type: 'usage-based', billingModel: 'post-paid', creditsPerUnit: 2 }, metered],
    [{ status: 'inactive' }, { isActive: false }],
    [{ status: 'archived' }, { isActive: false }],
    [{ default: true }, { default: true }],
    [{ currency: 'usd' }, { currency: 'USD', currencySymbol: '$' }],
    [
      {
        type: 'hybrid',
        pricingOptions: [
          { currency: 'eur', price: 900 },
          { currency: 'usd', price: 1000, basePrice: 1000, setupFee: 2, default: true },
        ],
      },
      {
        price: 1000,
        basePrice: 1000,
        setupFee: 2,
        requiresPayment: true,
        pricingOptions: [
          { currency: 'EUR', price: 900 },
          { currency: 'USD', price: 1000, basePrice: 1000, setupFee: 2, default: true },
        ],
      },
    ],
  ]
  test.each(derived)('%j', async (given, expected) => {
    const plans = `/v1/sdk/products/${await shop.newProduct()}/plans`
    const created = await shop.post<object>(plans, { name: 'Pro', ...given }, 201)
    expect(created).toMatchObject({ ...given, ...expected })
  })
})

describe('a customer', () => {
  const bare = {
    reference: startingWith('cus_'),
    name: '',
    status: 'active',
    created: iso,
    metadata: {},
    purchases: [],
  }
  const optional = {
    name: 'Ada Lovelace',
    telephone: '+44 20 7946 0000',
    externalRef: 'auth0|ada/1',
    metadata: { tier: 'gold', list: [1, { deep: null }] },
  }
  const rows: readonly (readonly [what: string, given: object])[] = [
    ['nothing but an email address', {}],
    ...Object.entries(optional).map(([field, value]) => [field, { [field]: value }] as const),
    ['everything', { ...optional, externalRef: 'auth0|ada/2' }],
  ]
  test.each(rows)('stores and returns a customer with %s', async (what, given) => {
    const email = `${what.replaceAll(' ', '-')}@acme.example`
    const fields = { email, ...given }
    const created = await shop.post<{ reference: string }>('/v1/sdk/customers', fields, 201)
    expect(created).toEqual({ ...bare, ...fields })
    expect(await shop.get(`/v1/sdk/customers/${created.reference}`)).toEqual(created)
    expect(await shop.get(`/v1/sdk/customers?email=${email}`)).toEqual(created)
  })

  test('updates single fields and keeps the others', async () => {
    const path = `/v1/sdk/customers/${await shop.newCustomer({ email: 'later@acme.example' })}`
    const later = { ...optional, externalRef: 'auth0|later' }
    for (const [field, value] of Object.entries(later)) await shop.patch(path, { [field]: value })
    expect(await shop.get(path)).toEqual({ ...bare, email: 'later@acme.example', ...later })
  })
})

describe('a purchase', () => {
  const terms = { price: 0, currency: 'USD', billingCycle: null, features: null, limits: null }
  const metered = { meterRef: startingWith('mtr_') }
  const rows: readonly (readonly [
    what: string,
    plan: object,
    snapshot: object,
    purchase: object,
  ])[] = [
    [
      'free, without a cap',
      { price: 0 },
      { planType: 'recurring', billingCycle: 'monthly' },
      { isRecurring: true, billingCycle: 'monthly', nextBillingDate: iso, autoRenew: true },
    ],
    [
      'free, with a cap, features and limits',
      { price: 0, limit: 10, freeUnits: 3, features: { seats: 1 }, limits: { maxUsage: 10 } },
      {
        planType: 'recurring',
        billingCycle: 'monthly',
        limit: 10,
        freeUnits: 3,
        features: { seats: 1 },
        limits: { maxUsage: 10 },
      },
      { isRecurring: true, billingCycle: 'monthly', nextBillingDate: iso, autoRenew: true },
    ],
    [
      'paid with credits',
      { type: 'usage-based', creditsPerUnit: 100 },
      { ...metered, planType: 'usage-based', creditsPerUnit: 100, freeUnits: 0 },
      { isRecurring: true, autoRenew: true },
    ],
    [
      'paid afterwards',
      { type: 'usage-based', billingModel: 'post-paid', creditsPerUnit: 2, freeUnits: 5, limit: 9 },
      {
        ...metered,
        planType: 'usage-based',
        billingCycle: 'monthly',
        creditsPerUnit: 2,
        freeUnits: 5,
        limit: 9,
      },
      { isRecurring: true, billingCycle: 'monthly', nextBillingDate: iso, autoRenew: true },
    ],
    [
      'bought once',
      { type: 'one-time', price: 0, limit: 3 },
      { planType: 'one-time', limit: 3 },
      { isRecurring: false, autoRenew: false, origin: 'one_time' },
    ],
  ]
  test.each(rows)(
    'has the terms and dates of a plan that is %s',
    async (_, plan, snapshot, fields) => {
      const offer = await shop.sell(plan)
      const customerRef = await shop.newCustomer()
      const purchaseRef = await shop.buy(customerRef, offer)
      const { autoRenew, ...shared } = { origin: 'manual', ...fields } as Record<string, unknown>
      const both = {
        reference: purchaseRef,
        productRef: offer.productRef,
        productName: 'Product',
        status: 'active',
        amount: 0,
        currency: 'USD',
        startDate: iso,
        metadata: {},
        usage: expect.objectContaining({ used: 0, overageUnits: 0, overageCost: 0 }) as unknown,
        planSnapshot: { ...terms, reference: offer.planRef, name: 'Plan', ...snapshot },
        ...shared,
      }
      const full = await shop.purchase(purchaseRef)
      expect(full).toEqual({
        ...both,
        customerRef,
        customerEmail: expect.stringContaining('@acme.example') as unknown,
        autoRenew,
        createdAt: iso,
      })
      const ofCustomer = `/v1/sdk/purchases?customerRef=${customerRef}`
      expect(await shop.get(ofCustomer)).toEqual({ purchases: [full] })
      expect(await shop.purchasesOf(customerRef)).toEqual([full])
      const brief = { ...both, planRef: offer.planRef, planType: full.planSnapshot?.planType }
      const { purchases } = await shop.get<{ purchases: unknown[] }>(
        `/v1/sdk/customers/${customerRef}`,
      )
      expect(purchases).toEqual([brief])
      const { purchase: cancelled } = await shop.cancel(purchaseRef, 'too dear')
      const whole = { ...full, ...brief, autoRenew: false }
      const { nextBillingDate, ...kept } = whole as { nextBillingDate?: string }
      const reasoned = { ...kept, cancelledAt: iso, cancellationReason: 'too dear' }
      expect(cancelled).toEqual(
        nextBillingDate === undefined
          ? { ...reasoned, status: 'cancelled', endDate: cancelled.cancelledAt }
          : { ...reasoned, endDate: full.nextBillingDate },
      )
    },
  )
})
