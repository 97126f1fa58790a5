import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  startTestUsageStore,
  type TestUsageStore,
} from '@tollgate/platform/testing/embedded-servers'
import type {
  CustomerSummaryBody,
  EventSummaryBody,
  MovementBody,
} from '@tollgate/schemas/http/console-lists'
import type { UsageBreakdownBody, UsageOverTimeBody } from '@tollgate/schemas/http/console-usage'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import type { MeterBody } from '@tollgate/schemas/http/meters'
import type { PlanBody } from '@tollgate/schemas/http/plans'
import type { ProductBody } from '@tollgate/schemas/http/products'
import type { PurchaseBody } from '@tollgate/schemas/http/purchases'
import { createUser, quickPasswords, signIn } from './console-user.ts'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/* What the console shows to a user who may read everything and change nothing. */

let usage: TestUsageStore
let stack: TestStack
let tenant: Tenant
let stranger: Tenant
let token: string
let product: ProductBody
let plan: PlanBody
let customers: CustomerBody[]

beforeAll(async () => {
  usage = await startTestUsageStore()
  for (const environment of ['sandbox', 'live']) {
    await usage.store.command(`CREATE DATABASE IF NOT EXISTS ${environment}`)
    await usage.store.command(
      `CREATE TABLE ${environment}.usage_by_hour (
        provider_id String, meter_name LowCardinality(String), customer_ref String, product_ref String,
        hour DateTime('UTC'), value Decimal(38, 6), records UInt64
      ) ENGINE = SummingMergeTree ORDER BY (provider_id, meter_name, customer_ref, product_ref, hour)`,
    )
    await usage.store.command(
      `CREATE TABLE ${environment}.usage_by_meter (
        provider_id String, meter_name LowCardinality(String), product_ref String, outcome LowCardinality(String),
        hour DateTime('UTC'), value Decimal(38, 6), records Int64
      ) ENGINE = SummingMergeTree ORDER BY (provider_id, meter_name, hour, product_ref, outcome)`,
    )
    await usage.store.command(
      `CREATE MATERIALIZED VIEW ${environment}.usage_by_meter_view TO ${environment}.usage_by_meter AS
       SELECT provider_id, meter_name, product_ref, 'success' AS outcome, hour, value, records FROM ${environment}.usage_by_hour`,
    )
  }
  stack = await startTestStack({ usageStore: usage.store, settings: quickPasswords })
  tenant = await stack.createTenant()
  stranger = await stack.createTenant()
  await createUser(stack, tenant, 'member@example.com', 'member')
  token = (await signIn(stack, 'member@example.com')).accessToken
  await createData()
})
afterAll(async () => {
  await stack.stop()
  await usage.stop()
})

async function make<Body>(path: string, body: unknown, key = tenant.sandboxKey): Promise<Body> {
  const answer = await stack.call<Body>(key, 'POST', path, body)
  expect(answer.status).toBeLessThan(300)
  return answer.body
}

/** Creates 5 customers, 3 of them with a purchase. Lists start with the customer created last. */
async function createData(): Promise<void> {
  product = await make('/v1/sdk/products', { name: 'API' })
  const plans = `/v1/sdk/products/${product.reference}/plans`
  plan = await make(plans, { name: 'Free', default: true, limit: 5 })
  const people = [
    ['ada@example.com', 'Ada Lovelace', 'user_1'],
    ['adele@example.com', 'Adele', 'user_2'],
    ['bob@example.com', '100%_Bob', 'shop_3'],
    ['carol@example.com', 'Carol', 'shop_4'],
    ['dave@example.com', 'ADAM', 'shop_5'],
  ]
  customers = []
  for (const [email, name, externalRef] of people) {
    customers.push(await make('/v1/sdk/customers', { email, name, externalRef }))
  }
  for (const { reference: customerRef } of customers.slice(0, 3)) {
    await make('/v1/sdk/limits', { customerRef, productRef: product.reference })
  }
  await make('/v1/sdk/customers', { email: 'ada@other.example' }, stranger.sandboxKey)
  await make('/v1/sdk/customers', { email: 'ada@live.example' }, tenant.liveKey)
}

async function get<Body>(path: string, as = token): Promise<Body> {
  const { status, body } = await stack.call<Body>(as, 'GET', path)
  expect({ path, status, body }).toMatchObject({ path, status: 200 })
  return body
}

type Customers = { customers: CustomerSummaryBody[]; total: number; limit: number; offset: number }

describe('customers', () => {
  test('come newest first, a page at a time', async () => {
    const all = await get<Customers>('/v1/ui/customers')
    const references = customers.map(({ reference }) => reference)
    expect(all.customers.map(({ reference }) => reference)).toEqual(references.toReversed())
    expect(all).toMatchObject({ total: 5, limit: 50, offset: 0 })
    const page = await get<Customers>('/v1/ui/customers?limit=2&offset=3')
    expect(page.customers.map(({ email }) => email)).toEqual([
      'adele@example.com',
      'ada@example.com',
    ])
    expect(page).toMatchObject({ total: 5, limit: 2, offset: 3 })
    expect(await get<Customers>('/v1/ui/customers?limit=-1&offset=-1')).toMatchObject({
      limit: 1,
      offset: 0,
    })
  })

  test.each([
    ['ADA', ['dave@example.com', 'ada@example.com']],
    ['ade', ['adele@example.com']],
    ['user_', ['adele@example.com', 'ada@example.com']],
    ['100%_', ['bob@example.com']],
    ['%', []],
    ['lovelace', []],
    ['bob@example.com', ['bob@example.com']],
    ['shop_4', ['carol@example.com']],
  ])('are found by the prefix %s', async (search, emails) => {
    const path = `/v1/ui/customers?search=${encodeURIComponent(search)}`
    const found = await get<Customers>(path)
    expect(found.customers.map(({ email }) => email)).toEqual(emails)
    expect(found.total).toBe(emails.length)
  })

  test('are found by their reference until they are deleted', async () => {
    const { reference } = await make<CustomerBody>('/v1/sdk/customers', {
      email: 'zoe@example.com',
      externalRef: 'zoe_1',
    })
    const find = async (search: string) =>
      (await get<Customers>(`/v1/ui/customers?search=${search}`)).total
    for (const search of [reference, 'zoe@', 'zoe_']) expect(await find(search)).toBe(1)
    await stack.call(tenant.sandboxKey, 'DELETE', `/v1/ui/customers/${reference}`)
    for (const search of [reference, 'zoe@', 'zoe_']) expect(await find(search)).toBe(0)
  })

  test('are listed only for their own provider and environment', async () => {
    for (const [key, email] of [
      [stranger.sandboxKey, 'ada@other.example'],
      [tenant.liveKey, 'ada@live.example'],
    ] as const) {
      const found = await get<Customers>('/v1/ui/customers?search=ada', key)
      expect(found.customers.map((each) => each.email)).toEqual([email])
    }
  })
})

test('are served under a console path with an access token', async () => {
  const customerRef = customers[0]?.reference ?? ''
  const paths = [
    '/products',
    `/products/${product.reference}`,
    `/products/${product.reference}/plans`,
    `/products/${product.reference}/plans/${plan.reference}`,
    `/customers/${customerRef}`,
    `/customers/${customerRef}/balance`,
    `/payment-method?customerRef=${customerRef}`,
    '/merchant',
  ]
  for (const path of paths) {
    expect(await get(`/v1/ui${path}`)).toEqual(await get(`/v1/sdk${path}`, tenant.sandboxKey))
    expect((await stack.call(token, 'GET', `/v1/sdk${path}`)).status).toBe(401)
  }
  const refused = [
    await stack.call(token, 'POST', '/v1/ui/products', { name: 'Mine' }),
    await stack.call(token, 'DELETE', `/v1/ui/products/${product.reference}`),
    await stack.call(token, 'POST', `/v1/ui/customers/${customerRef}/credits`, { credits: 1 }),
  ]
  expect(refused.map(({ status }) => status)).toEqual([403, 403, 403])
})

describe('purchases', () => {
  type Purchases = { purchases: PurchaseBody[]; total: number }

  test('come newest first, a page at a time, and through filters', async () => {
    const whole = await get<Purchases>('/v1/ui/purchases')
    const references = customers.map(({ reference }) => reference)
    const holders = whole.purchases.map(({ customerRef }) => customerRef)
    expect(holders).toEqual(references.slice(0, 3).toReversed())
    expect(await get<Purchases>('/v1/ui/purchases?limit=1&offset=1')).toMatchObject({
      purchases: [{ customerRef: references[1] }],
      total: 3,
    })
    const [first] = whole.purchases
    const cancel = `/v1/sdk/purchases/${first?.reference}/cancel`
    await stack.call(tenant.sandboxKey, 'POST', cancel, {})
    const count = async (query: string) => (await get<Purchases>(`/v1/ui/purchases?${query}`)).total
    const counts = [
      await count('status=active'),
      await count('status=cancelled'),
      await count(`productRef=${product.reference}`),
      await count(`planRef=${plan.reference}&customerRef=user_1`),
      await count('customerRef=nobody'),
      await count('planRef=pln_NONE'),
    ]
    const cancelled = whole.purchases.length - (counts[0] ?? 0)
    expect(counts).toEqual([3 - cancelled, cancelled, 3, 1, 0, 0])
    const one = `/purchases/${first?.reference}`
    expect(await get(`/v1/ui${one}`)).toEqual(await get(`/v1/sdk${one}`, tenant.sandboxKey))
  })
})

describe('movements of a wallet', () => {
  type Movements = { transactions: MovementBody[]; total: number }

  test('are listed newest first, with exact amounts', async () => {
    const path = `/v1/sdk/customers/user_1/credits`
    await make(path, { credits: 250, reason: 'welcome' })
    await make(path, { credits: 1_000_000_000_000 })
    const listed = await get<Movements>('/v1/ui/customers/user_1/credits/transactions')
    expect(listed).toMatchObject({
      total: 2,
      transactions: [
        { kind: 'grant', credits: '1000000000000' },
        { kind: 'grant', credits: '250', reason: 'welcome' },
      ],
    })
    const second = '/v1/ui/customers/user_1/credits/transactions?limit=1&offset=1'
    expect((await get<Movements>(second)).transactions).toEqual([listed.transactions[1]])
    const none = await stack.call(token, 'GET', '/v1/ui/customers/nobody/credits/transactions')
    expect(none.status).toBe(404)
  })
})

describe('events', () => {
  type Events = { events: EventSummaryBody[]; hasMore: boolean }

  test('are listed newest first, each on one page only', async () => {
    const whole = await get<Events>('/v1/ui/events?limit=100')
    expect(whole.events.at(-1)).toMatchObject({ type: 'product.created', livemode: false })
    expect(whole.hasMore).toBe(false)
    const paged: EventSummaryBody[] = []
    for (let hasMore = true; hasMore;) {
      const before = paged.at(-1)?.id ?? ''
      const page = await get<Events>(`/v1/ui/events?limit=3&before=${before}`)
      paged.push(...page.events)
      hasMore = page.hasMore
    }
    expect(paged).toEqual(whole.events)
  })

  test('are filtered by type and contain their payload', async () => {
    const { events } = await get<Events>('/v1/ui/events?type=plan.created')
    expect(events).toMatchObject([{ type: 'plan.created' }])
    const path = `/v1/ui/events/${events[0]?.id}`
    expect(await get(path)).toMatchObject({
      ...events[0],
      data: { object: { id: plan.reference }, previous_attributes: null },
    })
    for (const key of [stranger.sandboxKey, tenant.liveKey]) {
      expect((await stack.call(key, 'GET', path)).status).toBe(404)
      const before = `/v1/ui/events?before=${events[0]?.id}`
      expect(await get(before, key)).toEqual({ events: [], hasMore: false })
    }
  })
})

describe('usage', () => {
  type Row = readonly [
    meter: string,
    customer: string,
    product: string,
    hour: string,
    value: string,
    records?: number,
  ]

  async function store(providerId: string, environment: string, rows: readonly Row[]) {
    const lines = rows.map(([meter_name, customer_ref, product_ref, hour, value, records = 1]) =>
      JSON.stringify({
        provider_id: providerId,
        meter_name,
        customer_ref,
        product_ref,
        hour: Date.parse(hour) / 1000,
        value,
        records,
      }),
    )
    const table = `${environment}.usage_by_hour`
    await usage.store.command(`INSERT INTO ${table} FORMAT JSONEachRow ${lines.join('\n')}`)
  }

  let meter: MeterBody

  beforeAll(async () => {
    meter = await make<MeterBody>('/v1/ui/meters', { name: 'tokens' })
    const [ada, adele] = customers.map(({ reference }) => reference) as [string, string]
    const { reference: productRef } = product
    await store(tenant.providerId, 'sandbox', [
      ['requests', ada, productRef, '2026-03-01T00:00:00Z', '1', 1],
      ['requests', 'user_1', productRef, '2026-03-01T23:00:00Z', '2', 2],
      ['requests', adele, productRef, '2026-03-02T05:00:00Z', '2.5', 1],
      ['requests', 'unlinked', '', '2026-03-03T00:00:00Z', '40', 4],
      ['tokens', ada, productRef, '2026-03-01T00:00:00Z', '0.000001', 1],
    ])
    await store(tenant.providerId, 'live', [['requests', ada, '', '2026-03-01T00:00:00Z', '1000']])
    const others: Row[] = [['requests', ada, productRef, '2026-03-01T00:00:00Z', '1000']]
    await store(stranger.providerId, 'sandbox', others)
  })

  const march = 'from=2026-03-01&to=2026-03-04'

  test('adds up over time for the requested customer, product and meter', async () => {
    const sum = async (query: string) => {
      const { total, count } = await get<UsageOverTimeBody>(`/v1/ui/usage?${march}&${query}`)
      return [total, count]
    }
    expect(await sum('')).toEqual([45.5, 8])
    expect(await sum('customerRef=user_1')).toEqual([3, 3])
    expect(await sum(`productRef=${product.reference}`)).toEqual([5.5, 4])
    expect(await sum(`meterRef=${meter.reference}`)).toEqual([0.000001, 1])
    const byDay = await get<UsageOverTimeBody>(`/v1/ui/usage?${march}&granularity=day`)
    expect(byDay).toMatchObject({ meterName: 'requests', total: 45.5, count: 8 })
    expect(byDay.buckets?.map(({ start, value, count }) => [start, value, count])).toEqual([
      ['2026-03-01T00:00:00.000Z', 3, 3],
      ['2026-03-02T00:00:00.000Z', 2.5, 1],
      ['2026-03-03T00:00:00.000Z', 40, 4],
    ])
  })

  test('covers the whole hours of the requested range', async () => {
    const query = 'from=2026-03-01T23:59:59Z&to=2026-03-02T04:00:01Z'
    expect(await get<UsageOverTimeBody>(`/v1/ui/usage?${query}`)).toMatchObject({
      from: '2026-03-01T23:00:00.000Z',
      to: '2026-03-02T05:00:00.000Z',
      total: 2,
    })
  })

  test('is broken down by customer, product and meter, largest first', async () => {
    const groups = async (query: string) => {
      const path = `/v1/ui/usage/breakdown?${march}&${query}`
      return (await get<UsageBreakdownBody>(path)).groups
    }
    const [ada, adele] = customers.map(({ reference }) => reference)
    const known = [
      { reference: ada, name: 'ada@example.com', value: 3, count: 3 },
      { reference: adele, name: 'adele@example.com', value: 2.5, count: 1 },
    ]
    expect(await groups('by=customer')).toEqual([
      { reference: 'unlinked', value: 40, count: 4 },
      ...known,
    ])
    expect(await groups(`by=customer&productRef=${product.reference}`)).toEqual(known)
    expect(await groups(`by=customer&productRef=${product.reference}&limit=1`)).toEqual([known[0]])
    expect(await groups('by=product')).toEqual([
      { reference: product.reference, name: 'API', value: 5.5, count: 4 },
    ])
    expect(await groups('by=meter&customerRef=user_1')).toEqual([
      { reference: 'requests', name: 'requests', value: 3, count: 3 },
      { reference: 'tokens', name: 'tokens', value: 0.000001, count: 1 },
    ])
  })

  test.each([
    ['from=2026-03-02&to=2026-03-01', 400],
    ['from=2026-03-01', 400],
    [`${march}&granularity=minute`, 400],
    ['from=1990-01-01&to=2026-03-01&granularity=hour', 400],
    [`${march}&customerRef=nobody`, 404],
    [`${march}&productRef=prd_NONE`, 404],
    [`${march}&meterRef=mtr_NONE`, 404],
  ])('responds to %s with %i', async (query, status) => {
    expect((await stack.call(token, 'GET', `/v1/ui/usage?${query}`)).status).toBe(status)
  })

  test('is shown in the overview for the last 30 days, with the counts', async () => {
    stack.clock.set('2026-03-04T12:00:00Z')
    const session = await signIn(stack, 'member@example.com')
    const overview = await get<{
      customers: number
      products: number
      purchases: Record<string, number>
      usage: UsageOverTimeBody
    }>('/v1/ui/overview', session.accessToken)
    expect(overview).toMatchObject({
      customers: 5,
      products: 1,
      usage: { meterName: 'requests', total: 45.5, to: '2026-03-05T00:00:00.000Z' },
    })
    expect(overview.usage.buckets?.length).toBe(30)
    const { active = 0, cancelled = 0, ...others } = overview.purchases
    expect(active + cancelled).toBe(3)
    expect(new Set(Object.values(others))).toEqual(new Set([0]))
  })
})
