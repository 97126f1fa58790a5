import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  startTestUsageStore,
  type TestUsageStore,
} from '@tollgate/platform/testing/embedded-servers'
import { metersDocumentKey, type PublishedMeters } from '@tollgate/schemas/hot-state/documents'
import type { MeterBody, MeterUsageResponse } from '@tollgate/schemas/http/meters'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'
import { createUsageRecordTables } from './usage-record-tables.ts'

/* Meters that read events: their definitions, versions and published form, and usage queries of every aggregation. */

let usage: TestUsageStore
let stack: TestStack
let tenant: Tenant

beforeAll(async () => {
  usage = await startTestUsageStore()
  await createUsageRecordTables(usage.store)
  stack = await startTestStack({ usageStore: usage.store })
  tenant = await stack.createTenant()
})
afterAll(async () => {
  await stack.stop()
  await usage.stop()
})

async function call<Body>(method: string, path: string, body?: unknown) {
  return stack.call<Body>(tenant.sandboxKey, method, path, body)
}

async function createMeter(fields: object): Promise<MeterBody> {
  const { status, body } = await call<MeterBody>('POST', '/v1/ui/meters', fields)
  expect([status, body]).toMatchObject([201, {}])
  return body
}

async function published(name: string) {
  const document = await stack.hotState.readDocument(
    metersDocumentKey('sandbox', tenant.providerId),
  )
  return (JSON.parse(document!) as PublishedMeters).meters[name]
}

describe('meters that read events', () => {
  test('are created, published, and changed in versions', async () => {
    const event = { type: 'llm.call', where: { '/tier': ['a', 1, true] } }
    const meter = await createMeter({
      name: 'tokens',
      event,
      value: ['/usage/input', '/usage/output'],
      dimensions: ['model', '/user/plan'],
    })
    expect(meter).toMatchObject({
      event,
      value: ['/usage/input', '/usage/output'],
      dimensions: ['model', '/user/plan'],
      version: 1,
      since: expect.any(String) as string,
    })
    const path = `/v1/ui/meters/${meter.reference}`
    expect((await call('GET', path)).body).toEqual(meter)
    const reads = {
      aggregation: 'sum',
      type: 'llm.call',
      where: event.where,
      value: ['/usage/input', '/usage/output'],
      dimensions: ['model', '/user/plan'],
    }
    expect(await published('tokens')).toEqual({
      reference: meter.reference,
      status: 'active',
      reads,
    })

    const renamed = await call<MeterBody>('PATCH', path, { displayName: 'Tokens', event })
    expect(renamed.body).toEqual({ ...meter, displayName: 'Tokens' })

    const changed = await call<MeterBody>('PATCH', path, {
      event: { type: 'chat' },
      value: '/tokens',
      dimensions: [],
    })
    const { dimensions: _, ...rest } = renamed.body
    expect(changed.body).toEqual({
      ...rest,
      event: { type: 'chat' },
      value: '/tokens',
      version: 2,
      since: changed.body.since,
    })
    expect(Date.parse(changed.body.since!)).toBeGreaterThanOrEqual(Date.parse(meter.since!))
    const next = { ...reads, type: 'chat', where: {}, value: ['/tokens'], dimensions: [] }
    expect((await published('tokens'))?.reads).toEqual(next)
    const versions = await stack.database.in('sandbox')<{ version: number; reading: object }[]>`
      select version, reading from meter_versions where meter_ref = ${meter.reference} order by version`
    expect([...versions]).toEqual([
      { version: 1, reading: reads },
      { version: 2, reading: next },
    ])
    const withoutValue = await call<MeterBody>('PATCH', path, { value: null })
    expect(withoutValue.body).not.toHaveProperty('value')
    expect(withoutValue.body.version).toBe(3)
  })

  test('leave the published form of other meters as it was', async () => {
    const meter = await createMeter({ name: 'plain' })
    expect(meter).not.toHaveProperty('event')
    expect(meter).not.toHaveProperty('version')
    expect(await published('plain')).toEqual({ reference: meter.reference, status: 'active' })
  })

  const event = { type: 'x' }
  test.each([
    ['value without event', { value: '/a' }, ['value']],
    ['dimensions without event', { dimensions: ['a'] }, ['dimensions']],
    ['distinct values without event', { aggregation: 'unique' }, ['event']],
    ['distinct values without a pointer', { aggregation: 'unique', event }, ['value']],
    [
      'distinct values of two pointers',
      { aggregation: 'unique', event, value: ['/a', '/b'] },
      ['value'],
    ],
    ['a value for a count', { aggregation: 'count', event, value: '/a' }, ['value']],
    ['no pointer', { event, value: 'a' }, ['value']],
    ['a malformed pointer', { event, value: ['/a', '/~2'] }, ['value']],
    ['nine pointers', { event, value: [...'abcdefghi'].map((name) => `/${name}`) }, ['value']],
    ['nine dimensions', { event, dimensions: [...'abcdefghi'] }, ['dimensions']],
    ['a repeated dimension', { event, dimensions: ['a', 'a'] }, ['dimensions']],
    [
      'a filter with an object',
      { event: { type: 'x', where: { a: [{}] } } },
      ['event', 'where', 'a'],
    ],
    ['an empty filter', { event: { type: 'x', where: { a: [] } } }, ['event', 'where', 'a']],
    ['an event without a type', { event: {} }, ['event', 'type']],
    ['an unknown aggregation', { aggregation: 'average' }, ['aggregation']],
    ['the name of a tool', { name: 'tool:search', event }, ['event']],
  ])('refuse %s', async (_, fields, path) => {
    const { status, body } = await call<{ errors: { path: string[] }[] }>('POST', '/v1/ui/meters', {
      name: 'refused',
      ...fields,
    })
    expect(status).toBe(400)
    expect(body.errors[0]!.path.slice(0, path.length)).toEqual(path)
  })

  test('cannot become meters that count calls, or the other way round', async () => {
    const plain = await createMeter({ name: 'named' })
    const { status, body } = await call<{ errors: object[] }>(
      'PATCH',
      `/v1/ui/meters/${plain.reference}`,
      { event },
    )
    expect([status, body.errors]).toMatchObject([400, [{ path: ['event'] }]])
    const unique = await createMeter({ name: 'people', aggregation: 'unique', event, value: '/a' })
    const path = `/v1/ui/meters/${unique.reference}`
    expect((await call('PATCH', path, { value: null })).status).toBe(400)
    expect((await call('PATCH', path, { value: ['/a', '/b'] })).status).toBe(400)
    expect((await call<MeterBody>('GET', path)).body).toEqual(unique)
  })

  test('are limited for each type of event', async () => {
    const type = 'crowded'
    const first = await createMeter({ name: 'crowded 0', event: { type } })
    for (let number = 1; number < 50; number += 1) {
      await createMeter({ name: `crowded ${number}`, event: { type } })
    }
    const more = { name: 'crowded 50', event: { type } }
    const refused = await call<{ errors: object[] }>('POST', '/v1/ui/meters', more)
    expect([refused.status, refused.body.errors]).toMatchObject([400, [{ path: ['event'] }]])
    await call('PATCH', `/v1/ui/meters/${first.reference}`, { status: 'archived' })
    await createMeter(more)
    const path = `/v1/ui/meters/${first.reference}`
    expect((await call('PATCH', path, { status: 'active' })).status).toBe(400)
  })
})

describe('usage of a meter that reads events', () => {
  const range = 'from=2026-03-01&to=2026-04-01'

  async function store(meterName: string): Promise<void> {
    const rows = [
      ['e1', '1.5', '02 10:00:00', '02 10:00:01', 'large', 'ada', 'eu'],
      ['e2', '9.25', '02 11:00:00', '02 11:00:01', 'small', 'eve', 'eu'],
      ['e3', '4', '09 00:00:00', '09 00:00:01', 'large', 'ada', ''],
      // The same time as e3: the record that was received later is the last one.
      ['e4', '2', '09 00:00:00', '09 00:00:02', 'large', 'zoe', 'eu'],
    ].map(([id, value, at, received, model, text, region]) => ({
      id,
      provider_id: tenant.providerId,
      customer_ref: 'ada',
      meter_name: meterName,
      value,
      timestamp: `2026-03-${at}`,
      received_at: `2026-03-${received}`,
      outcome: 'success',
      properties: '{}',
      dimensions: { model, ...(region !== '' && { region }) },
      value_text: text,
    }))
    // e1 was stored twice.
    const lines = [...rows, rows[0]].map((row) => JSON.stringify(row)).join('\n')
    await usage.store.command(`INSERT INTO sandbox.usage_records FORMAT JSONEachRow ${lines}`)
  }

  async function query(meter: MeterBody, text: string) {
    return call<MeterUsageResponse>('GET', `/ui/meters/${meter.reference}/usage?${range}${text}`)
  }

  test.each([
    ['sum', {}, 16.75, [10.75, 6]],
    ['max', {}, 9.25, [9.25, 4]],
    ['last', {}, 2, [9.25, 2]],
    ['unique', { value: '/user' }, 3, [2, 2]],
  ])('is aggregated by %s, in total and by week', async (aggregation, fields, total, weeks) => {
    const meter = await createMeter({
      name: `u ${aggregation}`,
      aggregation,
      event: { type: 'u' },
      ...fields,
    })
    await store(meter.name)
    expect((await query(meter, '')).body).toMatchObject({ total, count: 4 })
    const { body } = await query(meter, '&granularity=week')
    expect(body).toMatchObject({ total, count: 4 })
    expect(body.buckets!.filter(({ count }) => count > 0).map(({ value }) => value)).toEqual(weeks)
  })

  test('is 0 without records, by any aggregation', async () => {
    for (const aggregation of ['max', 'last', 'unique']) {
      const fields = {
        name: `none ${aggregation}`,
        aggregation,
        event: { type: 'u' },
        value: '/user',
      }
      const meter = await createMeter(fields)
      expect((await query(meter, '')).body).toMatchObject({ total: 0, count: 0 })
    }
  })

  test('is grouped by dimensions', async () => {
    const meter = await createMeter({
      name: 'grouped',
      event: { type: 'u' },
      dimensions: ['model', 'region'],
    })
    await store(meter.name)
    const one = await query(meter, '&groupBy=model')
    expect(one.body).toMatchObject({
      total: 16.75,
      count: 4,
      groups: [
        { dimensions: { model: 'large' }, value: 7.5, count: 3 },
        { dimensions: { model: 'small' }, value: 9.25, count: 1 },
      ],
    })
    const two = await query(meter, '&groupBy=region&groupBy=model')
    expect(two.body.groups).toEqual([
      { dimensions: { region: '', model: 'large' }, value: 4, count: 1 },
      { dimensions: { region: 'eu', model: 'large' }, value: 3.5, count: 2 },
      { dimensions: { region: 'eu', model: 'small' }, value: 9.25, count: 1 },
    ])
    expect((await query(meter, '&groupBy=other')).status).toBe(400)
  })

  test('of an aggregation other than sums is refused where usage is added up by hour', async () => {
    const meter = await createMeter({ name: 'peak', aggregation: 'max', event: { type: 'u' } })
    const text = `${range}&meterRef=${meter.reference}`
    for (const path of ['/v1/ui/usage', '/v1/ui/usage/breakdown']) {
      const { status } = await call('GET', `${path}?${text}&by=customer`)
      expect(status).toBe(400)
    }
  })
})
