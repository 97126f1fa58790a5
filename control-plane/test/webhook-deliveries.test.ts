import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { insertOutboxEvents } from '@tollgate/domain/outbox/repository'
import type { ErrorBody } from '@tollgate/schemas/http/errors'
import type {
  WebhookDeliveryBody,
  WebhookDeliverySummaryBody,
  WebhookReplayBody,
} from '@tollgate/schemas/http/webhook-deliveries'
import type {
  WebhookEndpointBody,
  WebhookEndpointWithAttemptsBody,
} from '@tollgate/schemas/http/webhook-endpoints'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'

/* These tests send nothing. They write to the database what a dispatcher would write about its deliveries. */

const deliveries = '/v1/ui/webhook-deliveries'
const replays = '/v1/ui/webhook-replays'

const pace = {
  TOLLGATE_WEBHOOK_REPLAY_INTERVAL_MS: '20',
  TOLLGATE_WEBHOOK_REPLAY_BATCH_MAX: '10',
  TOLLGATE_WEBHOOK_REPLAY_WAITING_MAX: '250',
}

let stack: TestStack
let tenant: Tenant
let endpointId: string

beforeAll(async () => {
  stack = await startTestStack({ settings: pace })
})
afterAll(() => stack.stop())

beforeEach(async () => {
  stack.clock.set('2026-03-01T10:00:00.000Z')
  tenant = await stack.createTenant()
  endpointId = await createEndpoint()
})

type Answered<Body> = { readonly status: number; readonly body: Body & ErrorBody }

const call = <Body>(method: string, at: string, body?: object): Promise<Answered<Body>> =>
  stack.call<Body>(tenant.sandboxKey, method, at, body)

async function createEndpoint(): Promise<string> {
  const url = 'https://hooks.example.com'
  return (await call<WebhookEndpointBody>('POST', '/v1/webhook_endpoints', { url })).body.id
}

let lastEvent = 0

/** Emits the events 1 second apart, starting at `from`. Returns the ids of their deliveries to the endpoint. */
async function emitEvents(types: readonly string[], from: string): Promise<string[]> {
  const { providerId } = tenant
  const events = types.map((type, index) => ({
    eventId: `evt_T${(lastEvent += 1)}`,
    providerId,
    type,
    livemode: false,
    object: { customer: 'cus_1' },
    previousAttributes: null,
    requestId: null,
    idempotencyKey: null,
    createdAt: new Date(Date.parse(from) + index * 1_000),
  }))
  const rows = stack.database.of(providerId).in('sandbox')
  await rows.write((sql) => insertOutboxEvents(sql, events))
  return events.map(({ eventId }) => `dlv_${eventId.slice(4)}${endpointId.slice(3)}`)
}

/** Changes the deliveries as after one attempt. */
async function recordAttempt(ids: readonly string[], state: string, status: number): Promise<void> {
  const pool = stack.database.in('sandbox')
  await pool`
    with moved as (
      update webhook_deliveries set state = ${state}, attempts = 1, finished_at = created_at
      where reference = any(${[...ids]}::text[]) returning *
    )
    insert into webhook_attempts (provider_id, delivery_ref, number, claim, is_reversed, started_at, duration_ms,
      connect_ms, answer_ms, status, answer, address, is_late)
    select provider_id, reference, 1, 1, false, created_at, 84, 12, 80, ${status}, 'as you say', '203.0.113.7', false
    from moved`
}

type Page = { readonly deliveries: WebhookDeliverySummaryBody[]; readonly hasMore: boolean }

const list = async (query = ''): Promise<Page> =>
  (await call<Page>('GET', `${deliveries}?${query}`)).body

const idsOf = (page: Page): string[] => page.deliveries.map(({ id }) => id)

describe('the log of deliveries', () => {
  test('lists deliveries with their attempts, and a single one with the responses', async () => {
    const [first, second] = await emitEvents(
      ['payment.failed', 'payment.refunded'],
      '2026-03-01T09:00:00Z',
    )
    await recordAttempt([first!], 'succeeded', 200)
    const attempt = {
      number: 1,
      isReversed: false,
      startedAt: '2026-03-01T09:00:00.000Z',
      durationMs: 84,
      connectMs: 12,
      answerMs: 80,
      status: 200,
      address: '203.0.113.7',
    }
    const succeeded = {
      id: first,
      endpointId,
      eventId: `evt_T${lastEvent - 1}`,
      type: 'payment.failed',
      state: 'succeeded',
      createdAt: '2026-03-01T09:00:00.000Z',
      finishedAt: '2026-03-01T09:00:00.000Z',
      attempts: [attempt],
    }
    const [newest, oldest] = (await list()).deliveries
    expect(newest).toMatchObject({ id: second, state: 'pending', attempts: [] })
    expect(newest).toHaveProperty('dueAt')
    expect(oldest).toEqual(succeeded)
    const found = await call<WebhookDeliveryBody>('GET', `${deliveries}/${first}`)
    expect(found.body).toEqual({
      ...succeeded,
      attempts: [{ ...attempt, answer: 'as you say' }],
    })
    expect((await call('GET', `${deliveries}/dlv_nobodys`)).status).toBe(404)
  })

  test('is filtered by endpoint, event, type, state and time', async () => {
    const types = ['payment.failed', 'payment.refunded', 'payment.failed']
    const [a, b, c] = (await emitEvents(types, '2026-03-01T09:00:00Z')) as [string, string, string]
    await recordAttempt([b], 'failed', 500)
    endpointId = await createEndpoint()
    const [d] = (await emitEvents(['payment.failed'], '2026-03-01T09:30:00Z')) as [string]
    const other = { ...(await list(`endpointId=${endpointId}`)) }
    expect(idsOf(other)).toEqual([d])
    expect(idsOf(await list('state=failed'))).toEqual([b])
    expect(idsOf(await list('state=pending&type=payment.failed')).slice(-2)).toEqual([c, a])
    expect(idsOf(await list('type=payment.refunded'))).toEqual([b])
    const [{ eventId }] = other.deliveries as [WebhookDeliverySummaryBody]
    expect((await list(`eventId=${eventId}`)).deliveries).toHaveLength(2)
    const time = 'from=2026-03-01T09:00:01Z&to=2026-03-01T09:00:02Z'
    expect(idsOf(await list(time))).toEqual([b])
    expect(idsOf(await list('endpointId=we_nobodys'))).toEqual([])
    const bads = ['state=lost', 'from=yesterday', 'to=2026-03-01', 'from=0000-01-01T00:00:00Z']
    const emptySpan = 'from=2026-03-01T09:00:01Z&to=2026-03-01T09:00:01Z'
    const unknown = ['type=payment.made', 'before=dlv_nobodys']
    for (const bad of [...bads, ...unknown, emptySpan, 'to=9999-12-31T23:59:59-00:01']) {
      expect([bad, (await call('GET', `${deliveries}?${bad}`)).status]).toEqual([bad, 400])
    }
  })

  test('returns pages in a stable order, for several endpoints', async () => {
    const types = Array.from({ length: 7 }, () => 'payment.failed')
    await createEndpoint()
    await emitEvents(types, '2026-03-01T09:00:00Z')
    const whole = idsOf(await list())
    expect(whole).toHaveLength(14)
    const paged: string[] = []
    for (let before = ''; ;) {
      const page = await list(`limit=4&before=${before}`)
      paged.push(...idsOf(page))
      if (!page.hasMore) break
      before = paged.at(-1)!
    }
    expect(paged).toEqual(whole)
  })
})

test('an endpoint shows its last attempts, newest first', async () => {
  const ids = await emitEvents(
    Array.from({ length: 25 }, () => 'payment.failed'),
    '2026-03-01T09:00:00Z',
  )
  await recordAttempt(ids.slice(0, 24), 'failed', 500)
  const { body } = await call<WebhookEndpointWithAttemptsBody>(
    'GET',
    `/v1/webhook_endpoints/${endpointId}`,
  )
  const attempted = ids.slice(4, 24).toReversed()
  expect(body.lastAttempts.map(({ deliveryId }) => deliveryId)).toEqual(attempted)
  expect(body.lastAttempts[0]).toMatchObject({ number: 1, status: 500 })
  expect(body.lastAttempts[0]).not.toHaveProperty('answer')
})

test('omits deliveries held before a given time when an endpoint is enabled', async () => {
  const endpoint = `/v1/webhook_endpoints/${endpointId}`
  const [pending] = (await emitEvents(['payment.failed'], '2026-03-01T08:00:00Z')) as [string]
  await call('PATCH', endpoint, { status: 'disabled' })
  const [old, young] = await emitEvents(
    ['payment.failed', 'payment.failed'],
    '2026-03-01T09:00:00Z',
  )
  for (const status of ['disabled', undefined]) {
    const change = { status, skipHeldBefore: '2026-03-01T10:00:00Z' }
    expect((await call('PATCH', endpoint, change)).status).toBe(400)
  }
  expect(idsOf(await list('state=held'))).toEqual([young, old])
  await call('PATCH', endpoint, { status: 'enabled', skipHeldBefore: '2026-03-01T09:00:01Z' })
  expect(idsOf(await list('state=skipped'))).toEqual([old, pending])
  expect(idsOf(await list('state=held'))).toEqual([young])
})

describe('a delivery', () => {
  const replay = (id: string) => call<WebhookDeliveryBody>('POST', `${deliveries}/${id}/replay`)

  test('is resent on each request, with a new id each time', async () => {
    const [id] = (await emitEvents(['payment.failed'], '2026-03-01T09:00:00Z')) as [string]
    await recordAttempt([id], 'succeeded', 200)
    const [one, two] = [await replay(id), await replay(id)]
    expect([one.status, two.status]).toEqual([201, 201])
    for (const { body } of [one, two]) {
      expect(body).toMatchObject({
        endpointId,
        eventId: `evt_T${lastEvent}`,
        type: 'payment.failed',
        state: 'pending',
        dueAt: '2026-03-01T10:00:00.000Z',
        attempts: [],
      })
    }
    expect(new Set([id, one.body.id, two.body.id]).size).toBe(3)
    expect(new Set([one.body.replayId, two.body.replayId]).size).toBe(2)
    const { body } = await call<WebhookReplayBody>('GET', `${replays}/${one.body.replayId}`)
    expect(body).toMatchObject({ deliveryId: id, state: 'finished', queued: 1 })
  })

  test('is not resent while it is pending', async () => {
    const [id] = (await emitEvents(['payment.failed'], '2026-03-01T09:00:00Z')) as [string]
    expect((await replay(id)).status).toBe(409)
    expect((await replay('dlv_nobodys')).status).toBe(404)
  })

  test('waits for a disabled endpoint, and is not resent to a deleted one', async () => {
    const [id] = (await emitEvents(['payment.failed'], '2026-03-01T09:00:00Z')) as [string]
    await recordAttempt([id], 'failed', 500)
    const endpoint = `/v1/webhook_endpoints/${endpointId}`
    await call('PATCH', endpoint, { status: 'disabled' })
    expect((await replay(id)).body).toMatchObject({ state: 'held' })
    await call('DELETE', endpoint)
    expect((await replay(id)).status).toBe(400)
    expect((await list()).deliveries.map((each) => each.endpointId)).toContain(endpointId)
  })
})

describe('a replay', () => {
  const begin = (body: object) => call<WebhookReplayBody>('POST', replays, { endpointId, ...body })

  /** Moves the clock forward, so that services do what is due, until the replay is as expected. */
  const until = (id: string, isSo: (replay: WebhookReplayBody) => boolean) =>
    vi.waitUntil(
      async () => {
        stack.clock.set(new Date(stack.clock.now() + 20).toISOString())
        const { body } = await call<WebhookReplayBody>('GET', `${replays}/${id}`)
        return isSo(body) && body
      },
      { timeout: 30_000, interval: 10 },
    )

  const isFinished = ({ state }: WebhookReplayBody): boolean => state === 'finished'

  type Made = { readonly event_id: string; readonly reference: string }

  const madeBy = (replayId: string) => stack.database.in('sandbox')<Made[]>`
    select event_id, reference from webhook_deliveries where replay_ref = ${replayId} order by sequence`

  const eventsOf = (ids: readonly string[]): string[] =>
    ids.map((id) => `evt_${id.slice(4, -endpointId.length + 3)}`)

  const manyTypes = (count: number): string[] =>
    Array.from({ length: count }, () => 'payment.failed')

  test('resends the deliveries of a time range, each event once and in order, but no pending ones', async () => {
    const ids = await emitEvents(manyTypes(40), '2026-03-01T09:00:00Z')
    await recordAttempt(ids.slice(0, 20), 'succeeded', 200)
    await recordAttempt(ids.slice(20, 38), 'failed', 500)
    const begun = await begin({ from: '2026-03-01T09:00:03Z', to: '2026-03-01T09:00:39Z' })
    expect([begun.status, begun.body]).toEqual([
      201,
      {
        id: expect.stringMatching(/^wr_/) as string,
        endpointId,
        onlyFailed: false,
        from: '2026-03-01T09:00:03.000Z',
        to: '2026-03-01T09:00:39.000Z',
        state: 'running',
        queued: 0,
        createdAt: '2026-03-01T10:00:00.000Z',
      },
    ])
    expect(await until(begun.body.id, isFinished)).toMatchObject({ queued: 35 })
    const made = await madeBy(begun.body.id)
    expect(made.map(({ event_id: eventId }) => eventId)).toEqual(eventsOf(ids.slice(3, 38)))
    expect(new Set([...made.map(({ reference }) => reference), ...ids]).size).toBe(75)
    expect((await call<{ total: number }>('GET', replays)).body).toMatchObject({ total: 1 })
  })

  test('with `onlyFailed` omits deliveries that have succeeded since or are pending again', async () => {
    const ids = await emitEvents(manyTypes(3), '2026-03-01T09:00:00Z')
    await recordAttempt(ids, 'failed', 500)
    const taken = await call<WebhookDeliveryBody>('POST', `${deliveries}/${ids[1]}/replay`)
    await recordAttempt([taken.body.id], 'succeeded', 200)
    const first = await begin({ onlyFailed: true })
    expect(await until(first.body.id, isFinished)).toMatchObject({ queued: 2 })
    const made = await madeBy(first.body.id)
    expect(made.map(({ event_id: eventId }) => eventId)).toEqual(eventsOf([ids[0]!, ids[2]!]))
    const second = await begin({ onlyFailed: true })
    expect(await until(second.body.id, isFinished)).toMatchObject({ queued: 0 })
    // The delivery has failed again.
    await recordAttempt(
      made.slice(0, 1).map(({ reference }) => reference),
      'failed',
      500,
    )
    const third = await begin({ onlyFailed: true })
    expect(await until(third.body.id, isFinished)).toMatchObject({ queued: 1 })
  })

  test('is continued by any process, and queues nothing twice', async () => {
    const other = stack.createService()
    await other.start()
    const ids = await emitEvents(manyTypes(200), '2026-03-01T09:00:00Z')
    await recordAttempt(ids, 'succeeded', 200)
    const { body } = await begin({ from: '2026-03-01T09:00:00Z' })
    await until(body.id, ({ queued }) => queued >= 50)
    await other.stop()
    expect(await until(body.id, isFinished)).toMatchObject({ queued: 200 })
    const made = await madeBy(body.id)
    expect(made.map(({ event_id: eventId }) => eventId)).toEqual(eventsOf(ids))
  })

  test('waits while its endpoint has a backlog', async () => {
    const ids = await emitEvents(manyTypes(300), '2026-03-01T09:00:00Z')
    await recordAttempt(ids, 'succeeded', 200)
    const { body } = await begin({ from: '2026-03-01T09:00:00Z' })
    await until(body.id, ({ queued }) => queued === 250)
    for (let times = 0; times < 5; times += 1) {
      expect(await until(body.id, () => true)).toMatchObject({ state: 'running', queued: 250 })
    }
    const made = await madeBy(body.id)
    await recordAttempt(
      made.map(({ reference }) => reference),
      'succeeded',
      200,
    )
    expect(await until(body.id, isFinished)).toMatchObject({ queued: 300 })
  })

  test('waits while its endpoint is disabled, and stops when it is deleted', async () => {
    const ids = await emitEvents(manyTypes(3), '2026-03-01T09:00:00Z')
    await recordAttempt(ids, 'failed', 500)
    const endpoint = `/v1/webhook_endpoints/${endpointId}`
    await call('PATCH', endpoint, { status: 'disabled' })
    const first = await begin({ onlyFailed: true })
    for (let times = 0; times < 5; times += 1) {
      expect(await until(first.body.id, () => true)).toMatchObject({ state: 'running', queued: 0 })
    }
    await call('PATCH', endpoint, { status: 'enabled' })
    expect(await until(first.body.id, isFinished)).toMatchObject({ queued: 3 })
    await call('PATCH', endpoint, { status: 'disabled' })
    const second = await begin({ onlyFailed: true })
    await call('DELETE', endpoint)
    await until(second.body.id, ({ state }) => state === 'stopped')
    expect((await begin({ onlyFailed: true })).status).toBe(404)
  })

  test('is the only running one of its endpoint, and ends when it is cancelled', async () => {
    await call('PATCH', `/v1/webhook_endpoints/${endpointId}`, { status: 'disabled' })
    const both = await Promise.all([begin({ onlyFailed: true }), begin({ onlyFailed: true })])
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409])
    const { id } = both.find(({ status }) => status === 201)!.body
    const cancel = (replayId: string) =>
      call<WebhookReplayBody>('POST', `${replays}/${replayId}/cancel`)
    const cancelled = await cancel(id)
    expect(cancelled.body).toMatchObject({ state: 'cancelled' })
    expect((await cancel(id)).body).toEqual(cancelled.body)
    expect((await cancel('wr_nobodys')).status).toBe(404)
    expect((await begin({ onlyFailed: true })).status).toBe(201)
  })

  test.each([
    {},
    { onlyFailed: false },
    { from: 'yesterday' },
    { onlyFailed: 'yes' },
    { from: '2026-03-01T09:00:00Z', to: '2026-03-01T09:00:00Z' },
    { onlyFailed: true, from: '2026-03-01T09:00:00Z', to: '2026-02-01T09:00:00Z' },
    { from: '2026-03-01T10:00:00.000Z' },
  ])('is refused with %j', async (body) => {
    expect((await begin(body)).status).toBe(400)
  })
})
