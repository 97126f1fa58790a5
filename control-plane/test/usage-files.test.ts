import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { MeterBody } from '@tollgate/schemas/http/meters'
import type { Tenant } from './test-stack.ts'
import { csvRows, dayMs, queryText, range, start, UsageQueryWorld } from './usage-query-world.ts'

/* Filters, refusals and files of usage queries. */

let world: UsageQueryWorld

beforeAll(async () => {
  world = await UsageQueryWorld.start()
})
afterAll(() => world.stop())

describe('a filter', () => {
  const at = { atMs: start, receivedMs: start, micros: 1_000_000, text: '', dimensions: {} }

  test('compares properties of calls by type', async () => {
    const meter = await world.createMeter({ name: 'calls' })
    const properties: readonly object[] = [
      { region: 'eu', nested: { level: 1 } },
      { region: 'us', nested: { level: '1' } },
      { region: 'us', nested: { level: true } },
      { 'a/b': "it's", nested: { level: null } },
    ]
    await world.store(
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
      const { body } = await world.get(`/v1/ui/meters/${meter.reference}/usage`, query)
      expect([filter, body]).toMatchObject([filter, { count, total: count }])
    }
  })

  let meterOfRefusals: Promise<MeterBody> | undefined
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
    meterOfRefusals ??= world.createMeter({
      name: 'refusing',
      event: { type: 'u' },
      dimensions: ['model'],
    })
    const { reference } = await meterOfRefusals
    const path = `/v1/ui/meters/${reference}/usage`
    const { status, body } = await world.get<{ errors: { path: string[] }[] }>(path, {
      ...range,
      ...query,
    })
    expect([status, body.errors?.[0]?.path[0]]).toEqual([400, field])
  })

  test('with an unknown parameter is ignored on the path that existing clients use', async () => {
    const { reference } = await world.createMeter({ name: 'short path' })
    const answer = await world.get(`/ui/meters/${reference}/usage`, { ...range, fliter: 'x' })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('tollgate-warnings')).toContain('"fliter";nearest="filter"')
  })
})

describe('a file', () => {
  const dimensions = { model: 'large' }

  test('is chosen by the Accept header, and has the columns of the query', async () => {
    const meter = await world.createMeter({
      name: 'in files',
      event: { type: 'u' },
      dimensions: ['model'],
    })
    await world.store(
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
    const response = await world.file(meter, query, { accept: 'text/csv, application/json;q=0.5' })
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(response.headers.get('content-disposition')).toBe(
      'attachment; filename="usage-2026-03-01-2026-03-04.csv"',
    )
    expect(await response.text()).toBe(
      '"start","value","count"\n' +
        '"2026-03-02T00:00:00.000Z",1.234568,1\n"2026-03-03T00:00:00.000Z",1.234569,1\n',
    )
    const total = await world.file(meter, { ...range, format: 'csv' })
    expect(await total.text()).toBe('"value","count"\n3.703704,3\n')
    const json = await world.file(meter, range, { accept: '*/*' })
    expect(await json.json()).toMatchObject({ total: 3.703704, count: 3 })
  })

  test('in Parquet has the same rows as in CSV', async () => {
    const fields = { event: { type: 'u' }, dimensions: ['model', 'we`ird\\name'] }
    const meter = await world.createMeter({ name: 'parquet', ...fields })
    const records = Array.from({ length: 200 }, (_, index) => ({
      id: `parquet${index}`,
      atMs: start + index * 600_000,
      receivedMs: start,
      micros: index * 1_000_001,
      text: '',
      dimensions: { model: `model ${index % 7}`, 'we`ird\\name': 'x' },
    }))
    await world.store(meter.name, records)
    const query = { ...range, granularity: 'hour', groupBy: 'model', top: '4' }
    const parquet = await world.file(meter, query, { accept: 'application/vnd.apache.parquet' })
    expect(parquet.headers.get('content-type')).toBe('application/vnd.apache.parquet')
    await world.usage.store.command(
      `CREATE TABLE sandbox.parquet_rows (start DateTime64(3, 'UTC'), dimension_model String, is_other Bool,
         value Decimal(38, 6), count UInt64) ENGINE = MergeTree ORDER BY start`,
    )
    const { url, username, password } = world.usage.connection
    const insert = 'INSERT INTO sandbox.parquet_rows FORMAT Parquet'
    const stored = await fetch(`${url}/?query=${encodeURIComponent(insert)}`, {
      method: 'POST',
      headers: { 'x-clickhouse-user': username, 'x-clickhouse-key': password },
      body: await parquet.arrayBuffer(),
    })
    expect([stored.status, await stored.text()]).toEqual([200, ''])
    const read = await world.usage.store.query<{ line: string }>(
      `SELECT concat('"', formatDateTime(start, '%Y-%m-%dT%H:%i:%S'), '.000Z","', dimension_model, '",',
         toString(is_other), ',', toString(value), ',', toString(count)) AS line
       FROM sandbox.parquet_rows`,
    )
    const csv = await (await world.file(meter, { ...query, format: 'csv' })).text()
    expect(read.map(({ line }) => line).sort()).toEqual(csvRows(csv))
    expect(read.length).toBeGreaterThan(100)
    const weird = await world.file(meter, { ...range, groupBy: 'we`ird\\name', format: 'csv' })
    expect((await weird.text()).split('\n')[0]).toBe('"dimension_we`ird\\name","value","count"')
  })

  test('in CSV marks values that a spreadsheet would run as formulas, and no numbers', async () => {
    const meter = await world.createMeter({
      name: 'formulas',
      event: { type: 'u' },
      dimensions: ['model'],
    })
    const marked = ['=1+1', '+1+cmd', '-2+3', '@SUM(A1)', '\tx', '\rx', '\nx', '＝1', '-', '=\'"']
    const kept = ['-5', '+1.5', '-.5e3', 'a=1', ' =1', "'=1", '1-2', '']
    const record = { atMs: start, receivedMs: start, micros: 1_000_000, text: '' }
    await world.store(
      meter.name,
      [...marked, ...kept].map((model, at) => ({
        ...record,
        id: `formula${at}`,
        dimensions: { model },
      })),
    )
    const query = { ...range, groupBy: 'model' }
    const text = await (await world.file(meter, { ...query, format: 'csv' })).text()
    const fields = [...text.matchAll(/^"((?:[^"]|"")*)",1,1$/gm)].map(([, field]) =>
      field!.replaceAll('""', '"'),
    )
    expect(fields.sort()).toEqual([...marked.map((value) => `'${value}`), ...kept].sort())
    // Only a spreadsheet runs formulas, so other formats have the values as they were recorded.
    const { body } = await world.get<{ groups: { dimensions: { model: string } }[] }>(
      `/v1/ui/meters/${meter.reference}/usage`,
      query,
    )
    expect(body.groups.map(({ dimensions: { model } }) => model).sort()).toEqual(
      [...marked, ...kept].sort(),
    )
  })

  /** Stores so many rows that a file of them does not fit into the buffers between the service and a client. */
  async function createLargeMeter(tenant: Tenant): Promise<MeterBody> {
    const fields = { name: 'large', event: { type: 'u' }, dimensions: ['user'] }
    const meter = await world.createMeter(fields, tenant)
    await world.usage.store.command(
      `INSERT INTO sandbox.usage_records
       SELECT concat('large', toString(number)), '${tenant.providerId}', 'ada', 'large', 1,
         toDateTime64('2026-03-01 00:00:00', 3, 'UTC') + number % 3, now64(3), 'success', 'events', '', '{}',
         map('user', concat(repeat('u', 500), toString(number % 50001))), '' FROM numbers(50001)`,
    )
    return meter
  }

  test('with too many rows is refused, and slow clients of a provider do not block others', async () => {
    const meter = await createLargeMeter(world.tenant)
    const query = { ...range, groupBy: 'user', format: 'csv' }
    const refused = await world.file(meter, query)
    expect(refused.status).toBe(400)
    expect(await refused.text()).toContain('more than 50000 rows')

    const [other, third] = [await world.stack.createTenant(), await world.stack.createTenant()]
    const otherMeter = await createLargeMeter(other)
    const thirdMeter = await world.createMeter({ name: 'small' }, third)
    const small = () => world.file(thirdMeter, { ...range, format: 'csv' }, {}, third)
    const smaller = { ...query, from: '2026-03-01T00:00:01Z' }
    const slow = await world.file(meter, smaller)
    expect(slow.status).toBe(200)
    const own = await world.file(meter, smaller)
    expect([own.status, own.headers.get('retry-after')]).toEqual([429, '1'])
    expect(await own.json()).toMatchObject({ code: 'too_many_exports' })

    const beside = await world.file(otherMeter, smaller, {}, other)
    expect(beside.status).toBe(200)
    const busy = await small()
    expect([busy.status, busy.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await busy.json()).toMatchObject({ code: 'overloaded' })

    // A client that goes away makes room at once.
    await beside.body!.cancel()
    await expect.poll(async () => (await small()).status).toBe(200)
    // A client that reads nothing for too long gets an incomplete file, and makes room.
    const again = async () => {
      const file = await world.file(meter, smaller)
      await file.body!.cancel()
      return file.status
    }
    await expect.poll(again, { timeout: 10_000, interval: 200 }).toBe(200)
    await expect(slow.text()).rejects.toThrow('terminated')
  })
})

test('queries see only the environment and the provider of the key', async () => {
  const meter = await world.createMeter({
    name: 'alone',
    event: { type: 'u' },
    dimensions: ['model'],
  })
  const record = { id: 'alone', atMs: start, receivedMs: start, micros: 1_000_000, text: '' }
  await world.store('alone', [{ ...record, dimensions: { model: 'large' } }], 'live')
  const query = { ...range, groupBy: 'model', top: '5' }
  const path = `/v1/ui/meters/${meter.reference}/usage`
  expect((await world.get(path, query)).body).toMatchObject({ total: 0, groups: [] })
  const other = await world.stack.createTenant()
  const foreign = await world.stack.call(other.sandboxKey, 'GET', `${path}?${queryText(query)}`)
  expect(foreign.status).toBe(404)
  for (const tenant of [other, { ...world.tenant, sandboxKey: world.tenant.liveKey }]) {
    expect((await world.file(meter, { ...query, format: 'csv' }, {}, tenant)).status).toBe(404)
  }
})
