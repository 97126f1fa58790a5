import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import {
  startTraceCollector,
  type CollectedSpan,
  type TraceCollector,
} from '@tollgate/platform/testing/trace-collector'
import { createTollgateClient, type TollgateClient } from '../src/client/tollgate-client.ts'
import { startInstance, type Instance } from '../../tools/src/instance/instance.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../src/standalone/temporary-folder.ts'

/** A whole installation of `npm start` that traces every request, and the spans that its processes send. */
let folder: TemporaryFolder
let collector: TraceCollector
let instance: Instance
let sandbox: TollgateClient
let live: TollgateClient

beforeAll(async () => {
  folder = await makeTemporaryFolder('traces')
  collector = await startTraceCollector()
  instance = await startInstance({
    dataDir: folder.path,
    port: 0,
    environment: {
      ...process.env,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_TRACES_SAMPLER_ARG: '1',
      OTEL_BSP_SCHEDULE_DELAY: '100',
      OTEL_EXPORTER_OTLP_TIMEOUT: '1000',
    },
  })
  const { baseUrl, sandboxKey, liveKey } = instance.credentials
  const clientOf = (key: string): TollgateClient =>
    createTollgateClient({ baseUrl, key, connectionsMax: 8, timeoutMs: 15_000 })
  sandbox = clientOf(sandboxKey)
  live = clientOf(liveKey)
})

afterAll(async () => {
  sandbox.close()
  live.close()
  await instance.stop()
  await collector.stop()
  await folder.remove()
})

const isIngest = (name: string, environment: string) => (span: CollectedSpan) =>
  span.service === 'ingest' &&
  span.name === name &&
  span.attributes['tollgate.environment'] === environment

async function logOf(service: string): Promise<string[]> {
  return (await readFile(join(folder.path, 'logs', `${service}.log`), 'utf8')).split('\n')
}

function childrenOf(spans: readonly CollectedSpan[], parent: CollectedSpan): CollectedSpan[] {
  return spans.filter((each) => each.parentSpanId === parent.spanId)
}

function linkedTo(spans: readonly CollectedSpan[], target: CollectedSpan): CollectedSpan[] {
  return spans.filter((each) => each.links.some(({ spanId }) => spanId === target.spanId))
}

test.each(['sandbox', 'live'] as const)(
  'links a usage record in %s to its append and to the batches that count and store it',
  async (environment) => {
    const client = environment === 'sandbox' ? sandbox : live
    const { productRef } = instance.credentials
    await client.recordUsage({ customerRef: 'user_grace', productRef, idempotencyKey: 'traced' })
    const isServed = isIngest('POST /v1/sdk/usages', environment)
    const spans = await collector.until((seen) => {
      const served = seen.find(isServed)
      return served !== undefined && linkedTo(seen, served).length === 2
    })
    const served = spans.find(isServed)!
    expect(served).toMatchObject({
      kind: 'server',
      parentSpanId: '',
      isError: false,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/v1/sdk/usages',
        'http.response.status_code': 200,
      },
    })
    const topic = `tollgate.usage.${environment}`
    const [append] = childrenOf(spans, served).filter(({ kind }) => kind === 'producer')
    expect(append).toMatchObject({ name: `send ${topic}`, traceId: served.traceId })

    const batches = new Map(linkedTo(spans, served).map((batch) => [batch.service, batch]))
    const store = await collector.until((seen) =>
      childrenOf(seen, batches.get('aggregator-sink')!).some(({ name }) =>
        name.startsWith('INSERT'),
      ),
    )
    const counted = batches.get('aggregator-counters')!
    const stored = batches.get('aggregator-sink')!
    const fields = { kind: 'consumer', attributes: { 'tollgate.environment': environment } }
    expect(counted).toMatchObject({ name: `count ${topic}`, ...fields })
    expect(stored).toMatchObject({ name: `store ${topic}`, ...fields })
    expect(childrenOf(spans, counted).map(({ name }) => name)).toContain(`apply ${environment}`)
    expect(childrenOf(store, stored).map(({ name }) => name)).toContain(
      `INSERT ${environment}.usage_records`,
    )
  },
)

test('links a limit check to the read of hot state', async () => {
  const { productRef } = instance.credentials
  await sandbox.checkLimit('user_grace', productRef)
  const isServed = isIngest('POST /v1/sdk/limits', 'sandbox')
  const spans = await collector.until((seen) =>
    seen.some((span) => isServed(span) && childrenOf(seen, span).length > 0),
  )
  const names = spans.filter(isServed).flatMap((span) => childrenOf(spans, span))
  expect(names).toContainEqual(expect.objectContaining({ name: 'readEntry sandbox' }))
})

test('continues the trace of a management request from ingest to its queries', async () => {
  const customer = { name: 'Secret', email: 'secret@example.com', externalRef: 'user_secret' }
  const trace = 'c0ffee00c0ffee00c0ffee00c0ffee00'
  const { baseUrl, sandboxKey } = instance.credentials
  const created = await fetch(`${baseUrl}/v1/sdk/customers`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${sandboxKey}`,
      'content-type': 'application/json',
      traceparent: `00-${trace}-00f067aa0ba902b7-01`,
    },
    body: JSON.stringify(customer),
  })
  expect(created.status).toBe(201)
  const ofTrace = (spans: readonly CollectedSpan[]) =>
    spans.filter(({ traceId }) => traceId === trace)
  const isRoute = ({ name }: CollectedSpan) => name === 'POST /v1/sdk/customers'
  const spans = ofTrace(
    await collector.until((seen) => {
      const mine = ofTrace(seen)
      return mine.some(isRoute) && mine.some(({ service }) => service === 'ingest')
    }),
  )
  const proxied = spans.find(({ service }) => service === 'ingest')!
  expect(proxied).toMatchObject({ name: 'POST', parentSpanId: '00f067aa0ba902b7' })
  const served = spans.find(isRoute)!
  expect(served).toMatchObject({
    service: 'control-plane',
    kind: 'server',
    parentSpanId: proxied.spanId,
    attributes: {
      'http.route': '/v1/sdk/customers',
      'http.response.status_code': 201,
      'tollgate.environment': 'sandbox',
    },
  })
  const parts = childrenOf(spans, served)
  expect(parts.map(({ name }) => name)).toContain('SELECT control')
  // One transaction looks for the test clock of the customer, and one stores the customer.
  const transactions = parts.filter(({ name }) => name === 'TRANSACTION sandbox')
  const queries = transactions.flatMap((transaction) => childrenOf(spans, transaction))
  expect(queries.map(({ name }) => name)).toContain('INSERT sandbox')
  expect(queries.every(({ attributes }) => attributes['db.query.text'] !== '')).toBe(true)
})

test('contains no keys, bodies or customer references', () => {
  const { sandboxKey, liveKey } = instance.credentials
  const told = JSON.stringify(collector.spans())
  for (const secret of [sandboxKey, liveKey, 'secret@example.com', 'user_secret', 'user_grace']) {
    expect(told).not.toContain(secret)
  }
})

test('adds the trace of the request to its log lines', async () => {
  const trace = 'decade00decade00decade00decade00'
  const { baseUrl, sandboxKey } = instance.credentials
  const meterRef = await sandbox.requestsMeter()
  const { processes } = await instance.runFile()
  process.kill(processes['chdb-gateway']!, 'SIGKILL')
  // Until ClickHouse is started again, usage queries fail and the failures are logged.
  const answer = await fetch(
    `${baseUrl}/ui/meters/${meterRef}/usage?from=2026-01-01&to=2026-01-02`,
    {
      headers: {
        authorization: `Bearer ${sandboxKey}`,
        traceparent: `00-${trace}-00f067aa0ba902b7-01`,
      },
    },
  )
  expect(answer.status).toBe(503)
  // The supervisor writes the line to the file, so it arrives with a delay.
  const line = await vi.waitUntil(
    async () => (await logOf('control-plane')).find((each) => each.includes('request failed')),
    { timeout: 20_000, interval: 50 },
  )
  expect(JSON.parse(line)).toMatchObject({ trace_id: trace })
})

test('continues without the collector, and logs that', async () => {
  await collector.stop()
  const { productRef } = instance.credentials
  const answers = await Promise.all(
    Array.from({ length: 5_000 }, () =>
      sandbox.recordUsage({ customerRef: 'user_grace', productRef }),
    ),
  )
  expect(answers.every(({ success }) => success)).toBe(true)
  expect((await sandbox.checkLimit('user_grace', productRef)).withinLimits).toBe(false)
  const isTold = async (): Promise<boolean> =>
    (await logOf('ingest')).some((line) => line.includes('traces cannot be sent'))
  await vi.waitUntil(isTold, { timeout: 20_000, interval: 100 })
})
