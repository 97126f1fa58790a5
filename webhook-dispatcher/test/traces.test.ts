import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openTracing } from '@tollgate/platform/observability/open-tracing'
import type { Tracing } from '@tollgate/platform/observability/tracing'
import {
  startTraceCollector,
  type TraceCollector,
} from '@tollgate/platform/testing/trace-collector'
import { onlySecret, startDispatcherStack, type DispatcherStack } from './dispatcher-stack.ts'
import { startReceiver, type Receiver } from './receiver.ts'

/* Tests the spans that a trace collector receives from a dispatcher with full sampling. */

let stack: DispatcherStack
let receiver: Receiver
let collector: TraceCollector
let tracing: Tracing

beforeAll(async () => {
  stack = await startDispatcherStack()
  receiver = await startReceiver(() => ({ status: 204 }))
  collector = await startTraceCollector()
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', collector.url)
  vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '20')
  vi.stubEnv('OTEL_TRACES_SAMPLER_ARG', '1')
  tracing = (await openTracing('webhook-dispatcher', process.env, () => undefined))!
})

afterAll(async () => {
  await stack.close()
  await tracing.close()
  await collector.stop()
  await receiver.close()
  vi.unstubAllEnvs()
})

test('exports a span for a claim with its statement below it, and one for an attempt with its result', async () => {
  await stack.insertEndpoint({ providerId: 'prov', reference: 'we_A', url: receiver.url })
  await stack.start({}, { tracing })
  const [eventId] = await stack.emit('prov', ['cus_1'])
  const spans = await collector.until((all) => all.some(({ name }) => name === 'attempt sandbox'))
  const attempt = spans.find(({ name }) => name === 'attempt sandbox')
  expect(attempt).toMatchObject({
    isError: false,
    parentSpanId: '',
    attributes: {
      'tollgate.environment': 'sandbox',
      'tollgate.webhook.turn': 'first',
      'tollgate.webhook.delivery': `dlv_${eventId!.slice(4)}A`,
      'tollgate.webhook.attempt': 1,
      'http.response.status_code': 204,
    },
  })
  const claims = spans.filter(({ name }) => name === 'claim sandbox')
  const claimIds = claims.map(({ spanId }) => spanId)
  const below = spans.filter(({ parentSpanId }) => claimIds.includes(parentSpanId))
  expect(below.length).toBeGreaterThan(0)
  expect(new Set(below.map(({ name }) => name))).toEqual(new Set(['WITH sandbox']))
  // Spans contain nothing of the request body, the signature or the address.
  expect(JSON.stringify(spans)).not.toMatch(new RegExp(`cus_1|${onlySecret}|${receiver.url}`))
})
