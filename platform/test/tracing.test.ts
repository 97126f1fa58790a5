import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { SettingsError } from '../src/config/settings.ts'
import type { Database } from '../src/database/database.ts'
import { traceDatabase } from '../src/database/postgres/trace-database.ts'
import type { EventLog } from '../src/event-log/event-log.ts'
import { openFileEventLog } from '../src/event-log/files/file-event-log.ts'
import { traceEventLog } from '../src/event-log/trace-event-log.ts'
import type { HotState } from '../src/hot-state/hot-state.ts'
import { openLmdbHotState } from '../src/hot-state/lmdb/lmdb-hot-state.ts'
import { traceHotState } from '../src/hot-state/trace-hot-state.ts'
import { openTracing } from '../src/observability/open-tracing.ts'
import type { Tracing } from '../src/observability/tracing.ts'
import { startTestDatabase, type TestDatabase } from '../src/testing/embedded-servers.ts'
import {
  startTraceCollector,
  type CollectedSpan,
  type TraceCollector,
} from '../src/testing/trace-collector.ts'

const topic = 'usage.sandbox'
const caller = '4bf92f3577b34da6a3ce929d0e0e4736'
const sampled = { traceparent: `00-${caller}-00f067aa0ba902b7-01`, tracestate: 'vendor=1' }
const unsampled = { traceparent: `00-${caller}-00f067aa0ba902b7-00` }

let folder: string
let collector: TraceCollector
let tracing: Tracing
let rawLog: EventLog
let log: EventLog
let hotState: HotState
let rawHotState: HotState
let postgres: TestDatabase
let database: Database
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-tracing-'))
  collector = await startTraceCollector()
  // The library reads these variables from the process environment.
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', collector.url)
  vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '20')
  vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', 'deployment.environment.name=test')
  tracing = (await openTracing('tried', process.env, () => undefined))!
  rawLog = await openFileEventLog({
    logFolder: join(folder, 'log'),
    groupsFolder: join(folder, 'groups'),
    role: 'writer',
    topics: { [topic]: 2 },
  })
  log = traceEventLog(tracing, rawLog, 'tollgate')
  rawHotState = await openLmdbHotState({ folder: join(folder, 'hot'), role: 'projection' })
  hotState = traceHotState(tracing, rawHotState, 'lmdb')
  postgres = await startTestDatabase()
  database = traceDatabase(tracing, postgres.database)
})
afterAll(async () => {
  await tracing.close()
  await log.close()
  await hotState.close()
  await postgres.stop()
  await collector.stop()
  await rm(folder, { recursive: true })
  vi.unstubAllEnvs()
})

/** Returns the direct children of the span in which the work ran. */
async function traced(work: () => unknown): Promise<readonly CollectedSpan[]> {
  const span = tracing.receive('request', { traceparent: sampled.traceparent }, {})
  await Promise.resolve(span.run(work)).catch(() => undefined)
  span.end()
  const all = await collector.until((spans) => spans.some(({ spanId }) => spanId === span.spanId))
  return all.filter(({ parentSpanId }) => parentSpanId === span.spanId)
}

describe('whether there are traces', () => {
  const open = (environment: Record<string, string>) =>
    openTracing('tried', environment, () => undefined)
  const url = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:9/v1/traces' }

  it.each([
    ['no collector is named', {}],
    ['its name is empty', { OTEL_EXPORTER_OTLP_ENDPOINT: '' }],
    ['all of OpenTelemetry is disabled', { ...url, OTEL_SDK_DISABLED: 'TRUE' }],
    ['nothing is to be exported', { ...url, OTEL_TRACES_EXPORTER: 'none' }],
    ['a share alone is named', { OTEL_TRACES_SAMPLER_ARG: 'none of your business' }],
  ])('not when %s', async (_when, environment) => {
    expect(await open(environment)).toBeUndefined()
  })

  it('are on if a collector of traces is configured', async () => {
    const opened = await open(url)
    expect(opened).toBeDefined()
    await opened?.close()
  })

  it.each(['2', '-1', '', 'half'])('refuse a sampling ratio of "%s"', async (ratio) => {
    await expect(open({ ...url, OTEL_TRACES_SAMPLER_ARG: ratio })).rejects.toThrow(SettingsError)
  })
})

describe('a request', () => {
  it('continues the trace of its caller, sampled or not', () => {
    const followed = tracing.receive('request', sampled, {})
    expect(followed.isSampled).toBe(true)
    expect(followed.traceId).toBe(caller)
    expect(followed.headers).toEqual({
      traceparent: `00-${caller}-${followed.spanId}-01`,
      tracestate: 'vendor=1',
    })
    const passed = tracing.receive('request', unsampled, {})
    expect(passed.isSampled).toBe(false)
    expect(passed.headers.traceparent).toMatch(new RegExp(`^00-${caller}-[0-9a-f]{16}-00$`))
  })

  it.each([
    '',
    'nonsense',
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    `00-${caller}-0000000000000000-01`,
  ])('begins a trace of its own when the header is "%s"', (traceparent) => {
    const span = tracing.receive('request', { traceparent }, {})
    expect(span.traceId).toMatch(/^[0-9a-f]{32}$/)
    expect(span.traceId).not.toBe(caller)
    expect(Number.parseInt(span.traceId, 16)).toBeGreaterThan(0)
  })

  it('is sampled once in a hundred times by default', () => {
    const total = 20_000
    const spans = Array.from({ length: total }, () => tracing.receive('request', {}, {}))
    const share = spans.filter(({ isSampled }) => isSampled).length / total
    // Ten standard deviations.
    expect(Math.abs(share - 0.01)).toBeLessThan(0.0071)
  })

  it('records nothing if it is not sampled', async () => {
    const span = tracing.receive('request', unsampled, {})
    expect(span.run(() => tracing.begin('part', 'client', {}))).toBeUndefined()
    expect(tracing.begin('part', 'client', {})).toBeUndefined()
    expect(tracing.active()).toBeUndefined()
    expect(await span.run(async () => tracing.active())).toBe(span)
  })
})

it('a span that follows sampled traces is linked to all of them, in a separate trace', async () => {
  const other = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
  const span = tracing.follow('count', [sampled.traceparent, 'nonsense', other], { rows: 2 })
  span.end()
  const [found] = (
    await collector.until((spans) => spans.some(({ name }) => name === 'count'))
  ).filter(({ name }) => name === 'count')
  expect(found).toMatchObject({
    service: 'tried',
    kind: 'consumer',
    parentSpanId: '',
    attributes: { rows: 2 },
    links: [
      { traceId: caller, spanId: '00f067aa0ba902b7' },
      { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) },
    ],
  })
  expect(found?.traceId).not.toBe(caller)
})

describe('the log', () => {
  it('has spans for appends, and still shares the promise of a commit', async () => {
    const spans = await traced(async () => {
      const value = Buffer.from('a')
      const appends = [log.append(topic, 1, value, 5, 'key'), log.append(topic, 1, value, 5, 'key')]
      expect(appends[0]).toBe(appends[1])
      await appends[0]
      await log.appendAll(topic, [{ partition: 0, value }], 5)
      expect(await log.head(topic, 1)).toBe(2)
    })
    const of = { kind: 'producer', name: `send ${topic}`, isError: false }
    const shared = { 'messaging.system': 'tollgate', 'messaging.destination.name': topic }
    expect(spans).toHaveLength(3)
    expect(spans).toMatchObject([
      { ...of, attributes: { ...shared, 'messaging.destination.partition.id': '1' } },
      { ...of, attributes: { ...shared, 'messaging.destination.partition.id': '1' } },
      { ...of, attributes: { ...shared, 'messaging.batch.message_count': 1 } },
    ])
  })
})

describe('hot state', () => {
  const at = { space: 'sandbox', partition: 0, subject: 'user_ada', scope: 'prd_1' }

  it('has spans for calls, and still returns synchronous results', async () => {
    const entry = { version: 1, document: '{}', windows: [] }
    const spans = await traced(async () => {
      await hotState.putEntry(at, entry)
      expect(hotState.readEntry(at, 'requests')).toMatchObject({ document: '{}' })
      expect(hotState.readEntryDocument(at)).toBe('{}')
      await hotState.readDocument('secret')
      await hotState.ping()
    })
    expect(spans.map(({ name }) => name)).toEqual([
      'putEntry sandbox',
      'readEntry sandbox',
      'readEntryDocument sandbox',
      'readDocument',
    ])
    expect(spans[0]).toMatchObject({
      kind: 'client',
      attributes: {
        'db.system.name': 'lmdb',
        'db.operation.name': 'putEntry',
        'db.namespace': 'sandbox',
      },
    })
    expect(JSON.stringify(spans)).not.toMatch(/user_ada|prd_1|secret/)
  })

  it('behaves the same without an active trace', async () => {
    expect(await hotState.appliedOffset('sandbox', 0)).toBe(0)
    expect(await hotState.incarnation()).toBe(await rawHotState.incarnation())
  })
})

describe('the database', () => {
  it('has spans for sent queries, with their text and without their values', async () => {
    const spans = await traced(async () => {
      const { control } = database
      const condition = control`where value = ${'private'}`
      const query = control`select value from (values (${'private'})) as given (value) ${condition}`
      const rows = await query
      expect(await query).toBe(rows)
      expect(rows).toMatchObject([{ value: 'private' }])
      void control`select 'never sent'`
    })
    expect(spans).toMatchObject([
      {
        name: 'SELECT control',
        kind: 'client',
        isError: false,
        attributes: {
          'db.system.name': 'postgresql',
          'db.namespace': 'control',
          'db.operation.name': 'SELECT',
          'db.query.text': 'select value from (values ($1)) as given (value) where value = $2',
        },
      },
    ])
    expect(JSON.stringify(spans)).not.toContain('private')
  })

  it('groups the queries of a transaction under it, and marks the one that failed', async () => {
    const spans = await traced(() =>
      database.in('sandbox').begin(async (sql) => {
        await Promise.all([sql`select 1`, sql`select 2`])
        await sql`select private from nowhere`
      }),
    )
    expect(spans).toMatchObject([
      { name: 'TRANSACTION sandbox', isError: true, attributes: { 'error.type': '42P01' } },
    ])
    const queries = collector.spans().filter((each) => each.parentSpanId === spans[0]!.spanId)
    expect(queries.map(({ isError }) => isError)).toEqual([false, false, true])
    expect(queries[2]).toMatchObject({ attributes: { 'error.type': '42P01' } })
  })

  it('behaves the same without an active trace', async () => {
    const [row] = await database.in('live').begin('read only', (sql) => sql`select 1 as one`)
    expect(row).toEqual({ one: 1 })
    expect(await database.control.unsafe('select 2 as two')).toMatchObject([{ two: 2 }])
    expect(() => database.in('moon')).toThrow('moon')
  })
})

it('an unavailable collector delays nothing', async () => {
  const problems: string[] = []
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', 'http://127.0.0.1:9')
  vi.stubEnv('OTEL_EXPORTER_OTLP_TIMEOUT', '500')
  const lost = (await openTracing('tried', process.env, (reason) => problems.push(reason)))!
  for (let count = 0; count < 10_000; count++) lost.receive('request', sampled, {}).end()
  await vi.waitFor(() => expect(problems).toHaveLength(1), { timeout: 20_000 })
  await lost.close()
  expect(problems).toHaveLength(1)
})
