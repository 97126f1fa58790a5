import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  startTestUsageStore,
  type TestUsageStore,
} from '@tollgate/platform/testing/embedded-servers'
import type { MeterBody, MeterUsageResponse } from '@tollgate/schemas/http/meters'
import { aggregations, type Aggregation } from '@tollgate/schemas/meter-reading'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'
import { groupsOfModel, sumOfModel, type ModelRecord } from './usage-query-model.ts'

/* Usage queries with groups, filters, the largest groups and files, for every aggregation. */

let usage: TestUsageStore
let stack: TestStack
let tenant: Tenant

beforeAll(async () => {
  usage = await startTestUsageStore()
  for (const environment of ['sandbox', 'live']) {
    await usage.store.command(`CREATE DATABASE IF NOT EXISTS ${environment}`)
    await usage.store.command(
      // The columns that queries read, without the sink's protection against repeats.
      `CREATE TABLE ${environment}.usage_records (
        id String, provider_id String, customer_ref String, meter_name LowCardinality(String),
        value Decimal(18, 6), timestamp DateTime64(3, 'UTC'), received_at DateTime64(3, 'UTC'),
        outcome LowCardinality(String), properties String,
        dimensions Map(LowCardinality(String), String), value_text String
      ) ENGINE = ReplacingMergeTree ORDER BY (provider_id, meter_name, customer_ref, timestamp, id)`,
    )
  }
  const settings = {
    TOLLGATE_USAGE_EXPORTS_MAX: '1',
    TOLLGATE_USAGE_EXPORT_ROWS_MAX: '50000',
    TOLLGATE_USAGE_BUCKETS_MAX: '2000',
  }
  stack = await startTestStack({ usageStore: usage.store, settings })
  tenant = await stack.createTenant()
})
afterAll(async () => {
  await stack.stop()
  await usage.stop()
})

async function createMeter(fields: object): Promise<MeterBody> {
  const made = await stack.call<MeterBody>(tenant.sandboxKey, 'POST', '/v1/ui/meters', fields)
  expect([made.status, made.body]).toMatchObject([201, {}])
  return made.body
}

type StoredRow = { readonly properties?: object; readonly environment?: 'sandbox' | 'live' }

async function store(
  meterName: string,
  records: readonly (ModelRecord & StoredRow)[],
  environment: 'sandbox' | 'live' = 'sandbox',
): Promise<void> {
  const lines = records.map((record) =>
    JSON.stringify({
      id: record.id,
      provider_id: tenant.providerId,
      customer_ref: 'ada',
      meter_name: meterName,
      value: (record.micros / 1_000_000).toFixed(6),
      timestamp: inClickHouse(record.atMs),
      received_at: inClickHouse(record.receivedMs),
      outcome: 'success',
      properties: JSON.stringify(record.properties ?? {}),
      dimensions: record.dimensions,
      value_text: record.text,
    }),
  )
  await usage.store.command(
    `INSERT INTO ${environment}.usage_records FORMAT JSONEachRow ${lines.join('\n')}`,
  )
}

function inClickHouse(ms: number): string {
  return new Date(ms).toISOString().replace('T', ' ').replace('Z', '')
}

function get<Body>(path: string, query: Readonly<Record<string, string | readonly string[]>>) {
  return stack.call<Body>(tenant.sandboxKey, 'GET', `${path}?${queryText(query)}`)
}

function queryText(query: Readonly<Record<string, string | readonly string[]>>): string {
  return new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) =>
      (typeof value === 'string' ? [value] : value).map((each) => [name, each]),
    ),
  ).toString()
}

async function file(
  meter: MeterBody,
  query: Readonly<Record<string, string | readonly string[]>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return stack.fetch(`/v1/ui/meters/${meter.reference}/usage?${queryText(query)}`, {
    headers: { authorization: `Bearer ${tenant.sandboxKey}`, ...headers },
  })
}

const dayMs = 86_400_000
const start = Date.parse('2026-03-01T00:00:00Z')
const range = { from: '2026-03-01', to: '2026-03-04' }

const arbitraryRecord = fc
  .record({
    // Few different times, so that records share them, and the ends of buckets and of the range.
    atMs: fc.oneof(
      fc.constantFrom(start, start + dayMs - 1, start + dayMs, start + 3 * dayMs - 1),
      fc.integer({ min: 0, max: 40 }).map((step) => start + step * 7_200_000),
    ),
    receivedMs: fc.integer({ min: 0, max: 3 }).map((second) => start + second * 1_000),
    micros: fc.integer({ min: -5_000_000, max: 5_000_000 }),
    text: fc.constantFrom('ada', 'eve', 'zoe', "o'x"),
    dimensions: fc.record(
      {
        model: fc.constantFrom('large', 'small', 'a "quoted", one', ''),
        region: fc.constantFrom('eu', 'us'),
        tier: fc.constantFrom('1', 'true'),
      },
      { requiredKeys: [] },
    ),
  })
  .map((record, index = 0) => ({ ...record, id: `r${index}` }))

const arbitraryQuery = fc.record({
  groupBy: fc.subarray(['model', 'region', 'tier'], { minLength: 1 }),
  top: fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
  granularity: fc.option(fc.constantFrom('day', 'week', 'month'), { nil: undefined }),
  model: fc.option(fc.subarray(['large', 'a "quoted", one', ''], { minLength: 1 }), {
    nil: undefined,
  }),
})

/** Returns the time at which each bucket of the range starts. */
function bucketStarts(granularity: string): number[] {
  // 2 March 2026 was a Monday.
  if (granularity === 'week') return [start, start + dayMs]
  return granularity === 'month' ? [start] : [start, start + dayMs, start + 2 * dayMs]
}

type Question = typeof arbitraryQuery extends fc.Arbitrary<infer Query> ? Query : never

/** Returns the answer that the model gives. */
function expectedOf(aggregation: Aggregation, all: readonly ModelRecord[], question: Question) {
  const { groupBy, top, granularity, model } = question
  const records = all.filter(
    ({ atMs, dimensions }) =>
      atMs < start + 3 * dayMs && (model?.includes(dimensions['model'] ?? '') ?? true),
  )
  const bodyOf = (members: readonly ModelRecord[]) => ({
    ...sumOfModel(aggregation, members),
    ...(granularity !== undefined && {
      buckets: bucketStarts(granularity).map((from, index, starts) => {
        const to = starts[index + 1] ?? start + 3 * dayMs
        return {
          start: new Date(from).toISOString(),
          end: new Date(to).toISOString(),
          ...sumOfModel(
            aggregation,
            members.filter(({ atMs }) => atMs >= from && atMs < to),
          ),
        }
      }),
    }),
  })
  const byValues = groupsOfModel(records, groupBy).sort((a, b) => compare(a.values, b.values))
  const ordered =
    top === undefined
      ? byValues
      : [...byValues].sort(
          (a, b) =>
            sumOfModel(aggregation, b.records).value - sumOfModel(aggregation, a.records).value,
        )
  const named = ordered.slice(0, top)
  const rest = ordered.slice(named.length)
  const { value: total, count } = sumOfModel(aggregation, records)
  return {
    total,
    count,
    groups: named.map(({ values, records: members }) => ({
      dimensions: Object.fromEntries(groupBy.map((name, index) => [name, values[index]])),
      ...bodyOf(members),
    })),
    ...(rest.length > 0 && {
      other: { groups: rest.length, ...bodyOf(rest.flatMap(({ records: members }) => members)) },
    }),
  }
}

function compare(a: readonly string[], b: readonly string[]): number {
  for (const [index, value] of a.entries()) {
    if (value !== b[index]) return value < b[index]! ? -1 : 1
  }
  return 0
}

describe.each(aggregations)('usage by %s', (aggregation) => {
  test('is grouped, filtered and bucketed like a list of records', { retry: 0 }, async () => {
    const meter = await createMeter({
      name: `random ${aggregation}`,
      aggregation,
      event: { type: 'u' },
      dimensions: ['model', 'region', 'tier'],
      ...(aggregation === 'unique' && { value: '/user' }),
    })
    const [drawn] = fc.sample(fc.array(arbitraryRecord, { minLength: 60, maxLength: 60 }), 1)
    const records = drawn!.map((record, index) => ({ ...record, id: `${aggregation}${index}` }))
    await store(meter.name, records)
    // Repeated rows count once.
    await store(meter.name, records.slice(0, 5))
    await fc.assert(
      fc.asyncProperty(arbitraryQuery, async (question) => {
        const { groupBy, top, granularity, model } = question
        const query = {
          ...range,
          groupBy,
          ...(top !== undefined && { top: String(top) }),
          ...(granularity !== undefined && { granularity }),
          ...(model !== undefined && { filter: JSON.stringify({ model }) }),
        }
        const path = `/v1/ui/meters/${meter.reference}/usage`
        const { body } = await get<MeterUsageResponse>(path, query)
        expect(body).toMatchObject(expectedOf(aggregation, records, question))
        expect(body.groups!.length).toBe(expectedOf(aggregation, records, question).groups.length)

        const csv = await (await file(meter, { ...query, format: 'csv' })).text()
        expect(csvRows(csv)).toEqual(rowsOfBody(body, groupBy, top !== undefined))
      }),
      { numRuns: 12 },
    )
  })
})

describe('a filter', () => {
  const at = { atMs: start, receivedMs: start, micros: 1_000_000, text: '', dimensions: {} }

  test('compares properties of calls by type', async () => {
    const meter = await createMeter({ name: 'calls' })
    const properties: readonly object[] = [
      { region: 'eu', nested: { level: 1 } },
      { region: 'us', nested: { level: '1' } },
      { region: 'us', nested: { level: true } },
      { 'a/b': "it's", nested: { level: null } },
    ]
    await store(
      'calls',
      properties.map((each, index) => ({ ...at, id: `call${index}`, properties: each })),
    )
    const counts: readonly (readonly [filter: unknown, count: number])[] = [
      [{ region: 'us' }, 2],
      [{ region: ['eu', 'us'] }, 3],
      [{ '/nested/level': 1 }, 1],
      [{ '/nested/level': '1' }, 1],
      [{ '/nested/level': true }, 1],
      [{ '/nested/level': [1, '1', true] }, 3],
      [{ '/nested/level': 0 }, 0],
      [{ '/a~1b': "it's" }, 1],
      [{ region: 'us', '/nested/level': true }, 1],
      [{ region: "us') OR 1 --" }, 0],
      [{}, 4],
    ]
    for (const [filter, count] of counts) {
      const query = { ...range, filter: JSON.stringify(filter) }
      const { body } = await get(`/v1/ui/meters/${meter.reference}/usage`, query)
      expect([filter, body]).toMatchObject([filter, { count, total: count }])
    }
  })

  test.each([
    ['text that is not JSON', { filter: 'model=large' }, 'filter'],
    ['a list', { filter: '["model"]' }, 'filter'],
    ['an object as value', { filter: '{"model":{}}' }, 'filter'],
    ['no values', { filter: '{"model":[]}' }, 'filter'],
    ['a name that is no property', { filter: '{"/~2":"x"}' }, 'filter'],
    ['an undeclared dimension', { filter: '{"other":"x"}' }, 'filter'],
    ['a zero character', { filter: '{"model":"\\u0000"}' }, 'filter'],
    ['too many characters', { filter: JSON.stringify({ model: 'x'.repeat(6_000) }) }, 'filter'],
    ['top without groups', { top: '3' }, 'top'],
    ['top 0', { groupBy: 'model', top: '0' }, 'top'],
    ['top of a fraction', { groupBy: 'model', top: '1.5' }, 'top'],
    ['an unknown format', { format: 'xml' }, 'format'],
    ['an unknown parameter', { fliter: '{"model":"large"}' }, 'fliter'],
    [
      'more buckets than allowed',
      { granularity: 'hour', groupBy: 'model', to: '2026-05-25' },
      'to',
    ],
  ])('or query with %s is refused', async (_, query, field) => {
    meterOfRefusals ??= createMeter({
      name: 'refusing',
      event: { type: 'u' },
      dimensions: ['model'],
    })
    const { reference } = await meterOfRefusals
    const path = `/v1/ui/meters/${reference}/usage`
    const { status, body } = await get<{ errors: { path: string[] }[] }>(path, {
      ...range,
      ...query,
    })
    expect([status, body.errors?.[0]?.path[0]]).toEqual([400, field])
  })
  let meterOfRefusals: Promise<MeterBody> | undefined

  test('with an unknown parameter is ignored on the path that existing clients use', async () => {
    const { reference } = await createMeter({ name: 'short path' })
    const answer = await get(`/ui/meters/${reference}/usage`, { ...range, fliter: 'x' })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('tollgate-warnings')).toContain('"fliter";nearest="filter"')
  })
})

describe('a file', () => {
  const dimensions = { model: 'large' }

  test('is chosen by the Accept header, and has the columns of the query', async () => {
    const meter = await createMeter({
      name: 'in files',
      event: { type: 'u' },
      dimensions: ['model'],
    })
    await store(
      meter.name,
      Array.from({ length: 3 }, (_, index) => ({
        id: `file${index}`,
        atMs: start + index * dayMs,
        receivedMs: start,
        micros: 1_234_567 + index,
        text: '',
        dimensions,
      })),
    )
    const query = { from: '2026-03-01T06:00:00Z', to: '2026-03-04', granularity: 'day' }
    const response = await file(meter, query, { accept: 'text/csv, application/json;q=0.5' })
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(response.headers.get('content-disposition')).toBe(
      'attachment; filename="usage-2026-03-01-2026-03-04.csv"',
    )
    expect(await response.text()).toBe(
      '"start","value","count"\n' +
        '"2026-03-02T00:00:00.000Z",1.234568,1\n"2026-03-03T00:00:00.000Z",1.234569,1\n',
    )
    const total = await file(meter, { ...range, format: 'csv' })
    expect(await total.text()).toBe('"value","count"\n3.703704,3\n')
    const json = await file(meter, range, { accept: '*/*' })
    expect(await json.json()).toMatchObject({ total: 3.703704, count: 3 })
  })

  test('in Parquet has the same rows as in CSV', async () => {
    const fields = { event: { type: 'u' }, dimensions: ['model', 'we`ird\\name'] }
    const meter = await createMeter({ name: 'parquet', ...fields })
    const records = Array.from({ length: 200 }, (_, index) => ({
      id: `parquet${index}`,
      atMs: start + index * 600_000,
      receivedMs: start,
      micros: index * 1_000_001,
      text: '',
      dimensions: { model: `model ${index % 7}`, 'we`ird\\name': 'x' },
    }))
    await store(meter.name, records)
    const query = { ...range, granularity: 'hour', groupBy: 'model', top: '4' }
    const parquet = await file(meter, query, { accept: 'application/vnd.apache.parquet' })
    expect(parquet.headers.get('content-type')).toBe('application/vnd.apache.parquet')
    await usage.store.command(
      `CREATE TABLE sandbox.parquet_rows (start DateTime64(3, 'UTC'), dimension_model String, is_other Bool,
         value Decimal(38, 6), count UInt64) ENGINE = MergeTree ORDER BY start`,
    )
    const { url, username, password } = usage.connection
    const insert = 'INSERT INTO sandbox.parquet_rows FORMAT Parquet'
    const stored = await fetch(`${url}/?query=${encodeURIComponent(insert)}`, {
      method: 'POST',
      headers: { 'x-clickhouse-user': username, 'x-clickhouse-key': password },
      body: await parquet.arrayBuffer(),
    })
    expect([stored.status, await stored.text()]).toEqual([200, ''])
    const read = await usage.store.query<{ line: string }>(
      `SELECT concat('"', formatDateTime(start, '%Y-%m-%dT%H:%i:%S'), '.000Z","', dimension_model, '",',
         toString(is_other), ',', toString(value), ',', toString(count)) AS line
       FROM sandbox.parquet_rows`,
    )
    const csv = await (await file(meter, { ...query, format: 'csv' })).text()
    expect(read.map(({ line }) => line).sort()).toEqual(csvRows(csv))
    expect(read.length).toBeGreaterThan(100)
    const weird = await file(meter, { ...range, groupBy: 'we`ird\\name', format: 'csv' })
    expect((await weird.text()).split('\n')[0]).toBe('"dimension_we`ird\\name","value","count"')
  })

  test('with too many rows is refused, and few are sent at a time to slow clients', async () => {
    const meter = await createMeter({ name: 'large', event: { type: 'u' }, dimensions: ['user'] })
    await usage.store.command(
      `INSERT INTO sandbox.usage_records
       SELECT concat('large', toString(number)), '${tenant.providerId}', 'ada', 'large', 1,
         toDateTime64('2026-03-01 00:00:00', 3, 'UTC') + number % 3, now64(3), 'success', '{}',
         map('user', concat(repeat('u', 200), toString(number % 50001))), '' FROM numbers(50001)`,
    )
    const query = { ...range, groupBy: 'user', format: 'csv' }
    const refused = await file(meter, query)
    expect(refused.status).toBe(400)
    expect(await refused.text()).toContain('more than 50000 rows')

    const smaller = { ...query, from: '2026-03-01T00:00:01Z' }
    const slow = await file(meter, smaller)
    expect(slow.status).toBe(200)
    const busy = await file(meter, smaller)
    expect([busy.status, busy.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await busy.json()).toMatchObject({ code: 'overloaded' })
    await slow.body!.cancel()
    await expect.poll(async () => (await file(meter, smaller)).status).toBe(200)
  })
})

test('queries see only the environment and the provider of the key', async () => {
  const meter = await createMeter({ name: 'alone', event: { type: 'u' }, dimensions: ['model'] })
  const record = { id: 'alone', atMs: start, receivedMs: start, micros: 1_000_000, text: '' }
  await store('alone', [{ ...record, dimensions: { model: 'large' } }], 'live')
  const query = { ...range, groupBy: 'model', top: '5' }
  const path = `/v1/ui/meters/${meter.reference}/usage`
  expect((await get(path, query)).body).toMatchObject({ total: 0, groups: [] })
  const other = await stack.createTenant()
  const foreign = await stack.call(other.sandboxKey, 'GET', `${path}?${queryText(query)}`)
  expect(foreign.status).toBe(404)
})

/** Returns the rows of a CSV without quotes inside of values, which the test does not compare. */
function csvRows(text: string): string[] {
  return text.trimEnd().split('\n').slice(1).sort()
}

/** Returns the rows that a file has for an answer in JSON: one for each group or bucket with records. */
function rowsOfBody(body: MeterUsageResponse, groupBy: readonly string[], hasTop: boolean) {
  const rows: string[] = []
  const add = (
    values: readonly string[],
    isOther: boolean,
    group: Pick<NonNullable<MeterUsageResponse['groups']>[number], 'value' | 'count' | 'buckets'>,
  ): void => {
    const cells = values.map((value) => `"${value.replaceAll('"', '""')}"`)
    for (const part of group.buckets ?? [{ start: undefined, ...group }]) {
      if (part.count === 0) continue
      const from = part.start === undefined ? [] : [`"${part.start}"`]
      const other = hasTop ? [String(isOther)] : []
      rows.push([...from, ...cells, ...other, String(part.value), String(part.count)].join(','))
    }
  }
  for (const group of body.groups!) {
    add(
      groupBy.map((name) => group.dimensions[name]!),
      false,
      group,
    )
  }
  if (body.other !== undefined)
    add(
      groupBy.map(() => ''),
      true,
      body.other,
    )
  return rows.sort()
}
