import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  startTestUsageStore,
  type TestUsageStore,
} from '@tollgate/platform/testing/embedded-servers'
import { randomRuns } from '@tollgate/platform/testing/random-runs'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import type { MeterBody } from '@tollgate/schemas/http/meters'
import type { ProductBody } from '@tollgate/schemas/http/products'
import type { UsageExplorerBody } from '@tollgate/schemas/http/usage-explorer'
import { createConsoleRollUps } from './roll-up-tables.ts'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/* The usage explorer, compared with a model that reads every record. */

let usage: TestUsageStore
let stack: TestStack
let tenant: Tenant
let stranger: Tenant
let meters: Record<string, MeterBody>
let products: string[]

beforeAll(async () => {
  usage = await startTestUsageStore()
  await createConsoleRollUps(usage.store)
  stack = await startTestStack({ usageStore: usage.store })
  tenant = await stack.createTenant()
  stranger = await stack.createTenant()
  meters = {}
  const event = { type: 'ai.call' }
  for (const [name, fields] of [
    ['tokens', { event, value: '/tokens', dimensions: ['model', 'region'] }],
    ['calls', { event, aggregation: 'count', dimensions: ['model', 'region'] }],
    ['peak', { event, value: '/tokens', aggregation: 'max' }],
  ] as const) {
    meters[name] = await make<MeterBody>('/v1/ui/meters', { name, ...fields })
  }
  const customers = [{ email: 'ada@example.com', externalRef: 'ada' }]
  for (const body of customers) await make<CustomerBody>('/v1/sdk/customers', body)
  products = []
  for (const name of ['API', 'Search']) {
    products.push((await make<ProductBody>('/v1/sdk/products', { name })).reference)
  }
})
afterAll(async () => {
  await stack.stop()
  await usage.stop()
})

async function make<Body>(path: string, body: unknown): Promise<Body> {
  const made = await stack.call<Body>(tenant.sandboxKey, 'POST', path, body)
  expect([path, made.status, made.body]).toMatchObject([path, 201, {}])
  return made.body
}

type UsedRecord = {
  readonly meter: string
  readonly customer: string
  /** Index of the product. Null: none. */
  readonly product: number | null
  readonly purchase: string
  readonly outcome: string
  readonly micros: number
  readonly atMs: number
  readonly dimensions: Readonly<Record<string, string>>
}

const hourMs = 3_600_000
const first = Date.parse('2026-03-01T00:00:00Z')

const record: fc.Arbitrary<UsedRecord> = fc.record({
  meter: fc.constantFrom('tokens', 'calls'),
  customer: fc.constantFrom('ada', 'bob', "o'neil\\", '=1+1'),
  product: fc.option(fc.nat(1)),
  purchase: fc.constantFrom('', 'pur_1', 'pur_2'),
  outcome: fc.constantFrom('success', 'success', 'paywall', 'fail'),
  micros: fc.integer({ min: -2_000_000, max: 9_000_000 }),
  // Times around the change to summer time in New York and in Paris.
  atMs: fc.integer({ min: first, max: first + 35 * 24 * hourMs - 1 }),
  dimensions: fc.record(
    { model: fc.constantFrom('small', 'large', "l'été"), region: fc.constantFrom('eu', 'us') },
    { requiredKeys: [] },
  ),
})

type Asked = {
  readonly meters: readonly string[]
  readonly timeZone: string
  readonly fromHour: number
  readonly hours: number
  readonly granularity: string | undefined
  readonly groupBy: string | undefined
  readonly top: number
  readonly customer: string | undefined
  readonly product: number | undefined
  readonly purchase: string | undefined
  readonly outcome: string | undefined
  readonly models: readonly string[] | undefined
  readonly isCompared: boolean
}

const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined })
const asked: fc.Arbitrary<Asked> = fc.record({
  meters: fc.subarray(['tokens', 'calls'], { minLength: 1 }),
  timeZone: fc.constantFrom('UTC', 'America/New_York', 'Europe/Paris', 'Asia/Tokyo'),
  fromHour: fc.integer({ min: -24, max: 30 * 24 }),
  hours: fc.nat(20 * 24),
  granularity: optional(fc.constantFrom('hour', 'day', 'week', 'month')),
  groupBy: optional(fc.constantFrom('customer', 'product', 'purchase', 'outcome', 'model')),
  top: fc.integer({ min: 1, max: 3 }),
  customer: fc.oneof(
    { weight: 3, arbitrary: fc.constant(undefined) },
    fc.constantFrom('ada', "o'neil\\"),
  ),
  product: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, fc.nat(1)),
  purchase: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, fc.constantFrom('pur_1')),
  outcome: optional(fc.constantFrom('paywall', 'all')),
  models: optional(fc.subarray(['small', "l'été", 'none'], { minLength: 1 })),
  isCompared: fc.boolean(),
})

function pathOf(query: Asked): string {
  const { groupBy } = query
  const parameters = new URLSearchParams({
    from: new Date(first + query.fromHour * hourMs).toISOString(),
    to: new Date(first + (query.fromHour + query.hours) * hourMs).toISOString(),
    timeZone: query.timeZone,
  })
  for (const name of query.meters) parameters.append('meterRef', meters[name]!.reference)
  const fields = {
    granularity: query.granularity,
    groupBy: groupBy === 'model' ? 'dimension' : groupBy,
    dimension: groupBy === 'model' ? 'model' : undefined,
    top: groupBy === undefined ? undefined : String(query.top),
    customerRef: query.customer,
    productRef: query.product === undefined ? undefined : products[query.product],
    purchaseRef: query.purchase,
    outcome: query.outcome,
    filter: query.models && JSON.stringify({ model: query.models }),
    compare: query.isCompared ? 'previous' : undefined,
  }
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) parameters.set(name, value)
  }
  return `/v1/ui/usage/explore?${parameters.toString()}`
}

async function storeRecords(records: readonly UsedRecord[], providerId = tenant.providerId) {
  const lines = records.map((each, index) =>
    JSON.stringify({
      ...{ id: `usage_${index}`, provider_id: providerId, meter_name: each.meter },
      ...{
        customer_ref: each.customer,
        value: (each.micros / 1e6).toFixed(6),
        outcome: each.outcome,
      },
      product_ref: each.product === null ? '' : products[each.product],
      ...{ purchase_ref: each.purchase, dimensions: each.dimensions, log_partition: index % 3 },
      timestamp: (each.atMs / 1_000).toFixed(3),
    }),
  )
  const into = 'INSERT INTO sandbox.usage_records FORMAT JSONEachRow'
  await usage.store.command(`${into} ${lines.join('\n')}`)
}

async function empty(): Promise<void> {
  const rollUps = ['by_purchase', 'by_dimension', 'by_meter', 'by_day']
  for (const table of ['records', ...rollUps].map((name) => `usage_${name}`)) {
    await usage.store.command(`TRUNCATE TABLE sandbox.${table}`)
  }
}

/** Name of the bucket: equal for two instants of one bucket, and in the order of time. */
function bucketName({ granularity, timeZone }: Asked, atMs: number): string {
  if (granularity === undefined) return ''
  if (granularity === 'hour') return new Date(atMs).toISOString().slice(0, 13)
  const date = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }).format(atMs)
  if (granularity === 'day') return date
  if (granularity === 'month') return date.slice(0, 7)
  const monday = new Date(`${date}T00:00:00Z`)
  monday.setUTCDate(monday.getUTCDate() - ((monday.getUTCDay() + 6) % 7))
  return monday.toISOString().slice(0, 10)
}

type Usage = { value: number; count: number; buckets: Record<string, [number, number]> }

/** Sums of the records, by bucket without the empty ones. */
function modelUsage(query: Asked, records: readonly UsedRecord[]): Usage {
  const buckets: Record<string, [number, number]> = {}
  for (const { atMs, micros } of records) {
    if (query.granularity === undefined) continue
    const name = bucketName(query, atMs)
    const [value, count] = buckets[name] ?? [0, 0]
    buckets[name] = [value + micros, count + 1]
  }
  const value = records.reduce((sum, { micros }) => sum + micros, 0)
  return { value, count: records.length, buckets }
}

const keysOf: Record<string, (record: UsedRecord) => string> = {
  customer: ({ customer }) => customer,
  product: ({ product }) => (product === null ? '' : products[product]!),
  purchase: ({ purchase }) => purchase,
  outcome: ({ outcome }) => outcome,
  model: ({ dimensions }) => dimensions['model'] ?? '',
}

function modelOf(query: Asked, records: readonly UsedRecord[]) {
  const startMs = first + query.fromHour * hourMs
  const lengthMs = query.hours * hourMs
  const chosen = records.filter(
    (each) =>
      (query.customer === undefined || each.customer === query.customer) &&
      (query.product === undefined || each.product === query.product) &&
      (query.purchase === undefined || each.purchase === query.purchase) &&
      (query.outcome === 'all' || each.outcome === (query.outcome ?? 'success')) &&
      (query.models === undefined || query.models.includes(each.dimensions['model'] ?? '')) &&
      (query.groupBy !== 'model' || each.dimensions['model'] !== undefined),
  )
  const within = (from: number) => (each: UsedRecord) =>
    each.atMs >= from && each.atMs < from + lengthMs
  return query.meters.map((name) => {
    const ofMeter = chosen.filter(({ meter }) => meter === name)
    const current = ofMeter.filter(within(startMs))
    const previous = query.isCompared ? ofMeter.filter(within(startMs - lengthMs)) : []
    const both = (keep: (each: UsedRecord) => boolean) => ({
      ...modelUsage(query, current.filter(keep)),
      ...(query.isCompared ? { previous: modelUsage(query, previous.filter(keep)) } : {}),
    })
    const whole = { meterName: name, ...both(() => true) }
    if (query.groupBy === undefined) return whole
    const keyOf = keysOf[query.groupBy]!
    const sums = new Map<string, number>()
    for (const each of current) sums.set(keyOf(each), (sums.get(keyOf(each)) ?? 0) + each.micros)
    const leading = [...sums]
      .sort(([one, a], [two, b]) => b - a || (one < two ? -1 : 1))
      .slice(0, query.top)
      .map(([key]) => key)
    const rest = [...current, ...previous].filter((each) => !leading.includes(keyOf(each)))
    return {
      ...whole,
      groups: leading.map((key) => ({ key, ...both((each) => keyOf(each) === key) })),
      ...(rest.length === 0 ? {} : { other: both((each) => !leading.includes(keyOf(each))) }),
    }
  })
}

type AnsweredUsage = {
  value: number
  count: number
  buckets?: { start: string; value: number; count: number }[] | undefined
}

/** Returns the answer in the form of the model. */
function shown(query: Asked, body: UsageExplorerBody) {
  const micros = (value: number): number => Math.round(value * 1e6)
  const usageOf = ({ value, count, buckets = [] }: AnsweredUsage): Usage => ({
    value: micros(value),
    count,
    buckets: Object.fromEntries(
      buckets
        .filter(({ count: uses }) => uses > 0)
        .map(({ start, value: of, count: uses }) => [
          bucketName(query, Date.parse(start)),
          [micros(of), uses],
        ]),
    ),
  })
  type Compared = AnsweredUsage & { previous?: AnsweredUsage | undefined }
  const both = (series: Compared) => ({
    ...usageOf(series),
    ...(series.previous === undefined ? {} : { previous: usageOf(series.previous) }),
  })
  return body.meters.map(({ meterName, groups, other, ...series }) => ({
    meterName,
    ...both(series),
    ...(groups === undefined
      ? {}
      : { groups: groups.map(({ key, ...group }) => ({ key, ...both(group) })) }),
    ...(other === undefined ? {} : { other: both(other) }),
  }))
}

async function explore(query: Asked): Promise<UsageExplorerBody> {
  const path = pathOf(query)
  const { status, body } = await stack.call<UsageExplorerBody>(tenant.sandboxKey, 'GET', path)
  expect([status, body]).toMatchObject([200, {}])
  return body
}

describe('the usage explorer', () => {
  test('answers every query as a model does, and its statement and its file have the same sums', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(record, { minLength: 20, maxLength: 120, size: 'max' }),
        fc.array(asked, { minLength: 6, maxLength: 6 }),
        async (records, queries) => {
          await empty()
          await storeRecords(records)
          await storeRecords(records.slice(0, 5), stranger.providerId)
          for (const query of queries) {
            const body = await explore(query)
            const expected = modelOf(query, records)
            expect(shown(query, body)).toEqual(expected)
            const rows = await usage.store.query<{ value: string; count: string }>(body.sql)
            const uses = (text: readonly string[]) =>
              text.reduce((sum, each) => sum + Number(each), 0)
            const total = expected.reduce(
              (sum, { count, previous }) => sum + count + (previous?.count ?? 0),
              0,
            )
            expect(uses(rows.map(({ count }) => count))).toBe(total)
            const file = await stack.fetch(`${pathOf(query)}&format=csv`, {
              headers: { authorization: `Bearer ${tenant.sandboxKey}` },
            })
            expect(file.headers.get('content-type')).toBe('text/csv; charset=utf-8')
            const [head = '', ...lines] = (await file.text()).trim().split('\n')
            expect(head).toMatch(/^"meter_name".*"value","count"$/)
            expect(uses(lines.map((line) => line.split(',').at(-1)!))).toBe(total)
            if (query.groupBy === 'customer') expect(lines.join('\n')).not.toContain('"=1+1"')
          }
        },
      ),
      { ...randomRuns(12), interruptAfterTimeLimit: 100_000, endOnFailure: true },
    )
  }, 150_000)

  test('names customers and products, and fills buckets without usage', async () => {
    await empty()
    const at = { purchase: '', outcome: 'success', micros: 5e6, dimensions: {}, product: 0 }
    await storeRecords([{ ...at, meter: 'tokens', customer: 'ada', atMs: first + hourMs }])
    const query = `from=2026-03-01&to=2026-03-03&timeZone=Europe/Paris&meterRef=${meters['tokens']!.reference}`
    const get = async (fields: string) => {
      const path = `/v1/ui/usage/explore?${query}&${fields}`
      return (await stack.call<UsageExplorerBody>(tenant.sandboxKey, 'GET', path)).body
    }
    const byCustomer = await get('groupBy=customer&granularity=day&compare=previous')
    expect(byCustomer).toMatchObject({
      from: '2026-02-28T23:00:00.000Z',
      to: '2026-03-02T23:00:00.000Z',
      previous: { from: '2026-02-26T23:00:00.000Z', to: '2026-02-28T23:00:00.000Z' },
    })
    expect(byCustomer.meters[0]?.groups).toMatchObject([
      { key: 'ada', name: 'ada@example.com', value: 5 },
    ])
    expect(byCustomer.meters[0]?.groups?.[0]?.buckets).toEqual([
      { start: '2026-02-28T23:00:00.000Z', end: '2026-03-01T23:00:00.000Z', value: 5, count: 1 },
      { start: '2026-03-01T23:00:00.000Z', end: '2026-03-02T23:00:00.000Z', value: 0, count: 0 },
    ])
    expect((await get('groupBy=product')).meters[0]?.groups).toMatchObject([
      { key: products[0], name: 'API' },
    ])
  })

  test.each([
    ['from=2026-03-02&to=2026-03-01', 'to'],
    ['from=2026-03-01&to=2026-03-02&groupBy=dimension', 'dimension'],
    ['from=2026-03-01&to=2026-03-02&groupBy=dimension&dimension=model', 'dimension'],
    ['from=2026-03-01&to=2026-03-02&dimension=model', 'dimension'],
    ['from=2026-03-01&to=2026-03-02&filter={"model":"small"}', 'filter'],
    ['from=2026-03-01&to=2026-03-02&timeZone=Mars/Olympus', 'timeZone'],
    ['from=2026-03-01&to=2026-03-02&custmerRef=ada', 'custmerRef'],
    ['from=1990-01-01&to=2026-03-02&granularity=hour', 'to'],
    ['from=2026-03-01&to=2026-03-02&meterRef=peak', 'meterRef'],
  ])('refuses %s', async (query, field) => {
    const path = `/v1/ui/usage/explore?${query.replace('=peak', `=${meters['peak']!.reference}`)}`
    const { status, body } = await stack.call(tenant.sandboxKey, 'GET', path)
    expect(status).toBe(400)
    expect(JSON.stringify(body)).toContain(field)
  })

  test("refuses another provider's meters", async () => {
    const path = `/v1/ui/usage/explore?from=2026-03-01&to=2026-03-02&meterRef=${meters['tokens']!.reference}`
    for (const key of [stranger.sandboxKey, tenant.liveKey]) {
      expect((await stack.call(key, 'GET', path)).status).toBe(404)
    }
  })
})
