import { openTracing } from '@tollgate/platform/observability/open-tracing'
import type { Tracing } from '@tollgate/platform/observability/tracing'
import { tracePaymentProcessors } from '@tollgate/platform/payments/trace-payment-processor'
import type { PaymentProcessor } from '@tollgate/platform/payments/payment-processor'
import {
  startTraceCollector,
  type CollectedSpan,
  type TraceCollector,
} from '@tollgate/platform/testing/trace-collector'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openSimulator, type SimulatorUnderTest } from './simulator-under-test.ts'

let collector: TraceCollector
let tracing: Tracing
let opened: SimulatorUnderTest
let processor: PaymentProcessor

beforeAll(async () => {
  collector = await startTraceCollector()
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', collector.url)
  vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '20')
  tracing = (await openTracing('tried', process.env, () => undefined))!
  opened = await openSimulator()
  const processors = {
    of: () => opened.processor,
    close: () => Promise.resolve(),
  }
  processor = tracePaymentProcessors(tracing, processors).of('sandbox')!
})

afterAll(async () => {
  await tracing.close()
  await opened.processor.close()
  await collector.stop()
  vi.unstubAllEnvs()
})

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'

/** Returns the spans of calls within a sampled request. */
async function spansOf(work: () => Promise<unknown>): Promise<readonly CollectedSpan[]> {
  const traceparent = `00-${traceId}-00f067aa0ba902b7-01`
  const request = tracing.receive('request', { traceparent }, {})
  await request.run(work).catch(() => undefined)
  request.end()
  const isOfRequest = (each: CollectedSpan): boolean => each.parentSpanId === request.spanId
  await collector.until((spans) => spans.some(({ spanId }) => spanId === request.spanId))
  return collector.spans().filter(isOfRequest)
}

test('records calls and their outcomes in spans, without personal data', async () => {
  const spans = await spansOf(async () => {
    const made = await processor.ensureCustomer(
      { email: 'ada@example.com', metadata: { secret: 'private' } },
      'key-private',
    )
    if (made.outcome !== 'done') throw new Error(made.outcome)
    const payment = { amountMinor: 500n, currency: 'USD', customerId: made.value.id, metadata: {} }
    await processor.createPaymentIntent(payment, 'key-private-2')
    await processor.createPaymentIntent({ ...payment, amountMinor: 1n }, 'key-private-3')
    for await (const _each of processor.list('payment_intent', { createdFrom: new Date(0) })) break
    await opened.simulator.stop()
    await processor.retrieve('charge', 'ch_private')
  })
  const of = { kind: 'client', attributes: { 'peer.service': 'stripe' } }
  expect(spans).toMatchObject([
    { ...of, name: 'ensureCustomer sandbox', attributes: { 'tollgate.outcome': 'done' } },
    { ...of, name: 'createPaymentIntent sandbox', attributes: { 'tollgate.outcome': 'open' } },
    { ...of, name: 'createPaymentIntent sandbox', attributes: { 'tollgate.outcome': 'refused' } },
    { ...of, name: 'list sandbox', isError: false },
    { ...of, name: 'retrieve sandbox', isError: true },
  ])
  expect(JSON.stringify(spans)).not.toMatch(/ada@|private|cus_/)
})
