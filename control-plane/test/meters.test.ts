import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  startTestUsageStore,
  type TestUsageStore,
} from '@tollgate/platform/testing/embedded-servers'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import type { CustomerBody } from '@tollgate/schemas/http/customers'
import type { MeterBody, MeterUsageResponse } from '@tollgate/schemas/http/meters'
import { usageTopic } from '@tollgate/schemas/topics'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'
import { createUsageRecordTables } from './usage-record-tables.ts'

let usage: TestUsageStore
let stack: TestStack
let tenant: Tenant

beforeAll(async () => {
  usage = await startTestUsageStore()
  await createUsageRecordTables(usage.store)
  stack = await startTestStack({
    usageStore: usage.store,
    settings: { TOLLGATE_USAGE_STORE_WAIT_MS: '200', TOLLGATE_USAGE_BUCKETS_MAX: '100' },
  })
  tenant = await stack.createTenant()
})
afterAll(async () => {
  await stack.stop()
  await usage.stop()
})

async function call<Body>(method: string, path: string, body?: unknown, key = tenant.sandboxKey) {
  return stack.call<Body>(key, method, path, body)
}

async function createMeter(fields: object): Promise<MeterBody> {
  const { status, body } = await call<MeterBody>('POST', '/v1/ui/meters', fields)
  expect(status).toBe(201)
  return body
}

async function query(meterRef: string, text: string, key = tenant.sandboxKey) {
  return call<MeterUsageResponse>('GET', `/ui/meters/${meterRef}/usage?${text}`, undefined, key)
}

type Row = {
  readonly id: string
  readonly meter: string
  readonly value: string
  readonly at: string
  readonly customerRef?: string
  readonly outcome?: string
  readonly properties?: object
  readonly providerId?: string
}

async function store(environment: string, rows: readonly Row[]): Promise<void> {
  const lines = rows.map((row) =>
    JSON.stringify({
      id: row.id,
      provider_id: row.providerId ?? tenant.providerId,
      customer_ref: row.customerRef ?? 'ada',
      meter_name: row.meter,
      value: row.value,
      timestamp: row.at.replace('T', ' ').replace('Z', ''),
      outcome: row.outcome ?? 'success',
      properties: JSON.stringify(row.properties ?? {}),
    }),
  )
  const table = `${environment}.usage_records`
  await usage.store.command(`INSERT INTO ${table} FORMAT JSONEachRow ${lines.join('\n')}`)
}

describe('meters', () => {
  test('include the built-in meter of every provider', async () => {
    for (const key of [tenant.sandboxKey, tenant.liveKey]) {
      const { body } = await call<{ meters: MeterBody[] }>('GET', '/v1/ui/meters', undefined, key)
      expect(body.meters).toMatchObject([
        { name: 'requests', aggregation: 'count', unit: 'requests', status: 'active' },
      ])
    }
  })

  test('are created, changed, archived and found', async () => {
    const meter = await createMeter({ name: 'tokens', unit: 'tokens' })
    expect(meter).toMatchObject({
      name: 'tokens',
      displayName: 'tokens',
      aggregation: 'sum',
      unit: 'tokens',
      status: 'active',
    })
    const path = `/v1/ui/meters/${meter.reference}`
    const change = { displayName: 'Tokens', status: 'archived', name: 'ignored' }
    const { body } = await call<MeterBody>('PATCH', path, change)
    expect(body).toEqual({ ...meter, displayName: 'Tokens', status: 'archived' })
    expect((await call<MeterBody>('GET', path)).body).toEqual(body)
    expect((await call('GET', path, undefined, tenant.liveKey)).body).toMatchObject({
      statusCode: 404,
      error: 'Not Found',
      message: `Meter with reference ${meter.reference} not found`,
    })
  })

  test('have unique names, also for concurrent requests', async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => call('POST', '/v1/ui/meters', { name: 'pages' })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409])
  })

  test('refuse to archive the built-in meter', async () => {
    const { body } = await call<{ meters: MeterBody[] }>('GET', '/v1/ui/meters')
    const requests = body.meters.find(({ name }) => name === 'requests')
    const path = `/v1/ui/meters/${requests?.reference}`
    const answer = await call('PATCH', path, { status: 'archived' })
    expect([answer.status, answer.body.message]).toEqual([400, 'Meter requests cannot be archived'])
  })
})

describe('usage of a meter', () => {
  let meter: MeterBody

  beforeAll(async () => {
    meter = await createMeter({ name: 'calls' })
    const at = '2026-03-02T10:15:00.000Z'
    await store('sandbox', [
      { id: 'u1', meter: 'calls', value: '1.5', at },
      { id: 'u2', meter: 'calls', value: '0.000001', at: '2026-03-02T11:00:00.000Z' },
      { id: 'u3', meter: 'calls', value: '2', at: '2026-03-09T00:00:00.000Z', customerRef: 'eve' },
      { id: 'u4', meter: 'calls', value: '4', at, outcome: 'paywall' },
      { id: 'u5', meter: 'calls', value: '8', at, outcome: 'fail' },
      { id: 'u6', meter: 'other', value: '16', at },
      { id: 'u7', meter: 'calls', value: '32', at, providerId: 'prv_SOMEBODY' },
    ])
    // This batch was stored twice.
    await store('sandbox', [{ id: 'u1', meter: 'calls', value: '1.5', at }])
    await store('live', [{ id: 'u8', meter: 'calls', value: '64', at }])
  })

  const march = 'from=2026-03-01&to=2026-04-01'

  test('is summed with every record once, for this provider and environment only', async () => {
    const { status, body } = await query(meter.reference, march)
    expect([status, body]).toEqual([
      200,
      {
        meterRef: meter.reference,
        meterName: 'calls',
        from: '2026-03-01T00:00:00.000Z',
        to: '2026-04-01T00:00:00.000Z',
        total: 3.500001,
        count: 3,
      },
    ])
    const versioned = `/v1/ui/meters/${meter.reference}/usage?${march}`
    expect((await call('GET', versioned)).body).toEqual(body)
  })

  test.each([
    ['outcome=paywall', 4, 1],
    ['outcome=fail', 8, 1],
    ['outcome=all', 15.500001, 5],
    ['customerRef=eve', 2, 1],
    ['customerRef=nobody', 0, 0],
    ['customerRef=%27%20OR%201%3D1%20--', 0, 0],
  ])('is filtered by %s', async (filter, total, count) => {
    const { body } = await query(meter.reference, `${march}&${filter}`)
    expect([body.total, body.count]).toEqual([total, count])
  })

  test('has a half-open range, exact to the millisecond', async () => {
    const total = async (from: string, to: string) =>
      (await query(meter.reference, `from=${from}&to=${to}`)).body.total
    expect(await total('2026-03-02T10:15:00.000Z', '2026-03-02T11:00:00.000Z')).toBe(1.5)
    expect(await total('2026-03-02T10:15:00.001Z', '2026-03-02T11:00:00.001Z')).toBe(0.000001)
    expect(await total('0001-01-01', '9999-12-31')).toBe(3.500001)
    expect(await total('2026-03-02', '2026-03-02')).toBe(0)
  })

  test.each([
    ['hour', 'from=2026-03-02T09:30:00Z&to=2026-03-02T12:00:00Z', [0, 1.5, 0.000001]],
    ['day', 'from=2026-03-01&to=2026-03-04', [0, 1.500001, 0]],
    // 2 and 9 March 2026 are Mondays.
    ['week', 'from=2026-03-02&to=2026-03-23', [1.500001, 2, 0]],
    ['month', 'from=2026-02-10&to=2026-04-01', [0, 3.500001]],
  ])('is grouped by %s', async (granularity, range, values) => {
    const { body } = await query(meter.reference, `${range}&granularity=${granularity}`)
    expect(body.buckets?.map(({ value }) => value)).toEqual(values)
    expect(body.buckets?.[0]?.start).toBe(body.from)
    expect(body.buckets?.at(-1)?.end).toBe(body.to)
    expect(body.count).toBe(body.buckets?.reduce((sum, { count }) => sum + count, 0))
    expect(body.granularity).toBe(granularity)
  })

  test.each([
    'from=2026-03-01',
    'from=yesterday&to=2026-03-01',
    'from=2026-03-02&to=2026-03-01',
    'from=2026-03-01&to=2026-03-02&granularity=year',
    'from=2026-01-01&to=2026-03-01&granularity=hour',
  ])('refuses %s', async (text) => {
    const { status, body } = await query(meter.reference, text)
    expect([status, body.message]).toEqual([400, 'Validation failed'])
  })

  test('includes every linked reference of a customer', async () => {
    const { body } = await call<CustomerBody>('POST', '/v1/sdk/customers', {
      email: 'ada@example.com',
      externalRef: 'ada',
    })
    const at = '2026-03-03T00:00:00.000Z'
    await store('sandbox', [
      { id: 'u9', meter: 'linked', value: '1', at, customerRef: body.reference },
      { id: 'u10', meter: 'linked', value: '2', at, customerRef: 'ada' },
    ])
    const linked = await createMeter({ name: 'linked' })
    for (const customerRef of [body.reference, 'ada']) {
      const answer = await query(linked.reference, `${march}&customerRef=${customerRef}`)
      expect(answer.body).toMatchObject({ customerRef, total: 3, count: 2 })
    }
  })

  test('includes the records of a tool and the requests that name it', async () => {
    const tool = await createMeter({ name: 'tool:search' })
    const at = '2026-03-03T00:00:00.000Z'
    await store('sandbox', [
      { id: 't1', meter: 'tool:search', value: '1', at },
      { id: 't2', meter: 'requests', value: '1', at, properties: { toolName: 'search' } },
      { id: 't3', meter: 'requests', value: '1', at, properties: { toolName: 'other' } },
      {
        id: 't4',
        meter: 'requests',
        value: '1',
        at,
        properties: { metadata: { toolName: 'search' } },
      },
      {
        id: 't5',
        meter: 'requests',
        value: '1',
        at,
        properties: { metadata: { toolName: 'other' } },
      },
    ])
    expect((await query(tool.reference, march)).body).toMatchObject({ total: 3, count: 3 })
  })

  test('responds 404 for an unknown meter or one of another provider', async () => {
    expect((await query('mtr_NOBODYS', march)).status).toBe(404)
    expect((await query(meter.reference, march, tenant.liveKey)).status).toBe(404)
  })

  test('waits for accepted records, and refuses if that takes too long', async () => {
    const topic = usageTopic('sandbox')
    const records = [{ partition: 2, value: new Uint8Array([0]) }]
    const [offset] = (await stack.eventLog.appendAll(topic, records, 0)) as [number]
    const late = await query(meter.reference, march)
    expect([late.status, late.headers.get('retry-after')]).toEqual([503, '1'])
    const answer = query(meter.reference, march)
    await stack.eventLog.commit(
      sinkGroup,
      topic,
      2,
      await stack.eventLog.position(sinkGroup, topic, 2),
      { offset: offset + 1, note: '' },
    )
    expect((await answer).status).toBe(200)
  })
})
