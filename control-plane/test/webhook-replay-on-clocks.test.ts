import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { insertOutboxEvents } from '@tollgate/domain/outbox/repository'
import type { WebhookReplayBody } from '@tollgate/schemas/http/webhook-deliveries'
import type { WebhookEndpointBody } from '@tollgate/schemas/http/webhook-endpoints'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/* Events of customers on test clocks are dated years ahead. Their deliveries are selected by the real time of their creation. */

let stack: TestStack
let tenant: Tenant
let endpointId: string

beforeAll(async () => {
  stack = await startTestStack({
    settings: {
      TOLLGATE_WEBHOOK_REPLAY_INTERVAL_MS: '20',
      TOLLGATE_WEBHOOK_REPLAY_BATCH_MAX: '10',
    },
  })
})
afterAll(() => stack.stop())
beforeEach(async () => {
  stack.clock.set('2026-03-01T10:00:00.000Z')
  tenant = await stack.createTenant()
  const url = 'https://hooks.example.com'
  endpointId = (await call<WebhookEndpointBody>('POST', '/v1/webhook_endpoints', { url })).id
})

async function call<Body>(method: string, path: string, body?: object): Promise<Body> {
  return (await stack.call<Body>(tenant.sandboxKey, method, path, body)).body
}

let lastEvent = 0

/** Emits events 1 second apart, starting at `from`. Returns their ids. */
async function emit(count: number, from: string): Promise<string[]> {
  const events = Array.from({ length: count }, (_, index) => ({
    eventId: `evt_C${(lastEvent += 1)}`,
    providerId: tenant.providerId,
    type: 'payment.failed',
    livemode: false,
    object: { customer: 'cus_1' },
    previousAttributes: null,
    requestId: null,
    idempotencyKey: null,
    createdAt: new Date(Date.parse(from) + index * 1_000),
  }))
  await insertOutboxEvents(stack.database.in('sandbox'), events)
  return events.map(({ eventId }) => eventId)
}

/** Emits events of a customer who lives in 2031. They are recorded in real time 1 second apart, starting at `recordedFrom`. */
async function emitOnClock(count: number, recordedFrom: string): Promise<string[]> {
  const start = '2031-01-01T00:00:00Z'
  const ids = await emit(count, start)
  const updated = await stack.database.in('sandbox')`
    update webhook_deliveries
    set recorded_at = ${recordedFrom}::timestamptz + (created_at - ${start}::timestamptz)
    where event_id = any(${ids}::text[]) and recorded_at is not null`
  expect(updated.count).toBe(count)
  return ids
}

async function eventsIn(state: string): Promise<string[]> {
  const rows = await stack.database.in('sandbox')<{ event_id: string }[]>`
    select event_id from webhook_deliveries
    where endpoint_ref = ${endpointId} and state = ${state} order by sequence`
  return rows.map(({ event_id: eventId }) => eventId)
}

test.each([false, true])(
  'a replay resends them by real time, in one order with all others, onlyFailed %s',
  async (onlyFailed) => {
    const ids = await emit(15, '2026-03-01T09:00:00.000Z')
    const onClock = await emitOnClock(15, '2026-03-01T09:00:00.500Z')
    await stack.database.in('sandbox')`
      update webhook_deliveries set state = 'failed', attempts = 1, finished_at = created_at
      where endpoint_ref = ${endpointId}`
    const range = { from: '2026-03-01T09:00:01Z', to: '2026-03-01T09:00:14.200Z' }
    const request = { endpointId, ...range, onlyFailed }
    const { id } = await call<WebhookReplayBody>('POST', '/v1/ui/webhook-replays', request)
    const finished = await vi.waitUntil(
      async () => {
        stack.clock.set(new Date(stack.clock.now() + 20).toISOString())
        const replay = await call<WebhookReplayBody>('GET', `/v1/ui/webhook-replays/${id}`)
        return replay.state === 'finished' && replay
      },
      { timeout: 30_000, interval: 10 },
    )
    expect(finished).toMatchObject({ queued: 27 })
    const inTurn = ids.flatMap((eventId, index) => [eventId, onClock[index]!])
    expect(await eventsIn('pending')).toEqual(inTurn.slice(2, 29))
  },
)

test('an endpoint that is enabled omits those that were held before a real time', async () => {
  const endpoint = `/v1/webhook_endpoints/${endpointId}`
  await call('PATCH', endpoint, { status: 'disabled' })
  const [old, young] = await emitOnClock(2, '2026-03-01T09:00:00Z')
  await call('PATCH', endpoint, { status: 'enabled', skipHeldBefore: '2026-03-01T09:00:01Z' })
  expect(await eventsIn('skipped')).toEqual([old])
  expect([...(await eventsIn('held')), ...(await eventsIn('pending'))]).toEqual([young])
})
