import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { notifyEndpointsChanged } from '@tollgate/domain/outbox/dispatcher-channel'
import { claimDeliveries } from '../src/postgres/claim-deliveries.ts'
import {
  onlySecret,
  startDispatcherStack,
  until,
  type DispatcherStack,
} from './dispatcher-stack.ts'
import { isSignedBy, startReceiver, type Answer, type Receiver } from './receiver.ts'

/* Tests deliveries on a real PostgreSQL with HTTP receivers: what is sent, when, and how deliveries end. */

let stack: DispatcherStack
let receivers: Receiver[]

beforeAll(async () => {
  stack = await startDispatcherStack()
})

beforeEach(() => {
  receivers = []
})

afterEach(async () => {
  // Receivers are closed first: dispatchers would otherwise wait for those that never respond.
  for (const receiver of receivers) await receiver.close()
  await stack.reset()
})

afterAll(() => stack.close())

async function receive(...[answer]: Parameters<typeof startReceiver>): Promise<Receiver> {
  const receiver = await startReceiver(answer)
  receivers.push(receiver)
  return receiver
}

const endpointOf = (receiver: Receiver, reference = 'we_A') =>
  stack.insertEndpoint({ providerId: 'prov', reference, url: receiver.url })

type DeliveryRow = { state: string; attempts: number; due_at: Date; finished_at: Date | null }

const readDeliveries = (eventId: string) => stack.database.in('sandbox')<DeliveryRow[]>`
  select state, attempts, due_at, finished_at from webhook_deliveries where event_id = ${eventId} order by sequence`

async function readDelivery(eventId: string): Promise<DeliveryRow> {
  return (await readDeliveries(eventId))[0]!
}

const readAttempts = () => stack.database.in('sandbox')`
  select number, claim, is_reversed, status, error_class, answer, address, is_late
  from webhook_attempts order by started_at, is_reversed`

async function countStates(): Promise<Record<string, number>> {
  const rows = await stack.database.in('sandbox')<{ state: string; count: number }[]>`
    select state, count(*)::int as count from webhook_deliveries group by state`
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}

async function readEndpoint(reference = 'we_A') {
  const [row] = await stack.database.in('sandbox')<
    { status: string; disabled_reason: string | null; failure_count: number }[]
  >`
    select status, disabled_reason, failure_count from webhook_endpoints where reference = ${reference}`
  return row!
}

test('sends an event once, as soon as it is committed, with a signature over its bytes', async () => {
  const receiver = await receive(() => ({ status: 200 }))
  await endpointOf(receiver)
  await stack.start()
  const [eventId] = await stack.emit('prov', ['cus_1'])
  await until(async () => (await readDelivery(eventId!)).state === 'succeeded')
  const [received, ...more] = receiver.received
  expect(more).toEqual([])
  expect(received).toMatchObject({
    eventId,
    deliveryRef: `dlv_${eventId!.slice(4)}A`,
    attempt: 1,
  })
  expect(isSignedBy(received!, onlySecret, 'first')).toBe(true)
  expect(JSON.parse(received!.body)).toMatchObject({ id: eventId, livemode: false })
  expect(await readAttempts()).toEqual([
    {
      number: 1,
      claim: 1,
      is_reversed: false,
      status: 200,
      error_class: null,
      answer: '{"received":true}',
      address: '127.0.0.1',
      is_late: false,
    },
  ])
})

test('retries a failed delivery with the same reference and bytes until it succeeds', async () => {
  let answers: Answer[] = [{ status: 500 }, { status: 302, headers: { location: '/elsewhere' } }]
  const receiver = await receive(() => {
    const [answer, ...others] = answers
    answers = others
    return answer ?? { status: 204 }
  })
  await endpointOf(receiver)
  await stack.start({ retryDelaysSeconds: [0, 0, 0] })
  const [eventId] = await stack.emit('prov', ['cus_1'])
  await until(async () => (await readDelivery(eventId!)).state === 'succeeded')
  const { received } = receiver
  expect(received.map(({ attempt }) => attempt)).toEqual([1, 2, 3])
  expect(new Set(received.map(({ deliveryRef }) => deliveryRef)).size).toBe(1)
  expect(new Set(received.map(({ body }) => body)).size).toBe(1)
  expect(received.every(({ path }) => path === '/')).toBe(true)
  expect(await readEndpoint()).toMatchObject({ status: 'enabled', failure_count: 0 })
})

test('makes 12 attempts on schedule, then disables the endpoint', async () => {
  const receiver = await receive(() => ({ status: 503 }))
  await endpointOf(receiver)
  stack.now = Date.parse('2026-03-01T10:00:00Z')
  await stack.start({ pollMs: 10, retryJitterPercent: 0 })
  const [eventId] = await stack.emit('prov', ['cus_1'])
  const waits: number[] = []
  for (let attempt = 1; attempt < 12; attempt += 1) {
    await until(async () => (await readDelivery(eventId!)).attempts === attempt)
    const { due_at } = await readDelivery(eventId!)
    waits.push((due_at.getTime() - stack.now) / 60_000)
    expect(await claimableAt(due_at.getTime() - 1)).toBe(0)
    stack.now = due_at.getTime()
  }
  await until(async () => (await readDelivery(eventId!)).state === 'failed')
  const days = 1_440
  expect(waits).toEqual([5, 15, 60, 360, days, 2 * days, ...Array<number>(5).fill(3 * days)])
  expect(await readDelivery(eventId!)).toMatchObject({ attempts: 12, state: 'failed' })
  expect(receiver.received.map(({ attempt }) => attempt)).toEqual(
    Array.from({ length: 12 }, (_, index) => index + 1),
  )
  expect(await readEndpoint()).toEqual({
    status: 'disabled',
    disabled_reason: 'attempts',
    failure_count: 12,
  })
})

/** Counts the deliveries that a claim would find at that time, without claiming them. */
async function claimableAt(now: number): Promise<number> {
  let found = -1
  await stack.database
    .in('sandbox')
    .begin(async (sql) => {
      const claim = {
        turn: 'retry' as const,
        now: new Date(now),
        leasedUntil: new Date(now),
        deliveriesMax: 20,
        perEndpointMax: 4,
        room: {},
        after: '',
      }
      found = (await claimDeliveries(sql, claim)).found
      throw new Error('undone')
    })
    .catch(() => undefined)
  return found
}

test('does not disable an endpoint if another delivery succeeded after the failed one began', async () => {
  const receiver = await receive(({ body }) => ({ status: body.includes('cus_bad') ? 500 : 200 }))
  await endpointOf(receiver)
  await stack.start({ retryDelaysSeconds: [1], retryJitterPercent: 0 })
  const [bad] = await stack.emit('prov', ['cus_bad'])
  await until(async () => (await readDelivery(bad!)).attempts === 1)
  const [good] = await stack.emit('prov', ['cus_good'])
  await until(async () => (await readDelivery(good!)).state === 'succeeded')
  await until(async () => (await readDelivery(bad!)).state === 'failed')
  expect(await readEndpoint()).toMatchObject({ status: 'enabled', failure_count: 1 })
})

test('holds deliveries and retries of a disabled endpoint, and sends them at once when it is enabled again', async () => {
  let isGone = true
  const receiver = await receive(() => ({ status: isGone ? 410 : 200 }))
  await endpointOf(receiver)
  await stack.start({ retryDelaysSeconds: [3_600, 3_600] })
  const [first] = await stack.emit('prov', ['cus_1'])
  await until(async () => (await readDelivery(first!)).state === 'held')
  expect(await readEndpoint()).toMatchObject({ status: 'disabled', disabled_reason: 'gone' })
  const [second] = await stack.emit('prov', ['cus_2'])
  expect(await readDelivery(second!)).toMatchObject({ state: 'held', attempts: 0 })
  isGone = false
  await stack.database
    .of('prov')
    .in('sandbox')
    .write(async (sql) => {
      await sql`
        update webhook_endpoints set status = 'enabled', disabled_reason = null, disabled_at = null, failure_count = 0,
          failing_since = null
        where reference = 'we_A'`
      await notifyEndpointsChanged(sql)
    })
  for (const eventId of [first!, second!]) {
    await until(async () => (await readDelivery(eventId)).state === 'succeeded')
  }
  expect(receiver.received.map(({ attempt }) => attempt).sort()).toEqual([1, 1, 2])
})

test('never sends deliveries of a deleted endpoint', async () => {
  const receiver = await receive(() => ({ status: 200 }))
  await endpointOf(receiver)
  const [eventId] = await stack.emit('prov', ['cus_1'])
  await stack.database.in('sandbox')`
    update webhook_endpoints set status = 'deleted' where reference = 'we_A'`
  await stack.start()
  await until(async () => (await readDelivery(eventId!)).state === 'skipped')
  expect(receiver.received).toEqual([])
})

const isHangWhole = process.env['TOLLGATE_TEST_WEBHOOK_HANG'] === 'whole'

/** The lease, and for how long the receiver leaves the first attempt without a response, in milliseconds. */
const [leaseMs, hangMs] = isHangWhole ? [20_000, 60_000] : [300, 300]

test(
  'lets another dispatcher claim after the lease expired, and stores the late outcome without applying it',
  { timeout: 30_000 + 2 * hangMs },
  async () => {
    let answerFirst = (_: Answer): void => undefined
    const held = new Promise<Answer>((resolve) => (answerFirst = resolve))
    const isHung = new Promise((resolve) => setTimeout(resolve, hangMs))
    let isFirst = true
    const receiver = await receive(async () => {
      if (!isFirst) return { status: 200 }
      isFirst = false
      await isHung
      return held
    })
    await endpointOf(receiver)
    // One delivery at a time, so that the second claim never waits for its own attempt.
    const limits = { leaseMs, pollMs: 50, perEndpointMax: 1, outboundTimeoutMs: 30_000 + hangMs }
    await stack.start(limits)
    const [eventId] = await stack.emit('prov', ['cus_1'])
    await until(() => receiver.received.length === 1)
    const askedAt = await readDatabaseTime()
    await stack.start(limits)
    const isDelivered = async () => (await readDelivery(eventId!)).state === 'succeeded'
    await until(isDelivered, 30_000 + leaseMs)
    expect(await countTransactionsSince(askedAt)).toBe(0)
    answerFirst({ status: 500 })
    await until(async () => (await readAttempts()).length === 2, 30_000 + hangMs)
    expect(await readDelivery(eventId!)).toMatchObject({ state: 'succeeded', attempts: 1 })
    expect(await readAttempts()).toMatchObject([
      { number: 1, claim: 1, status: 500, is_late: true },
      { number: 1, claim: 2, status: 200, is_late: false },
    ])
    expect(new Set(receiver.received.map(({ deliveryRef }) => deliveryRef)).size).toBe(1)
    if (isHangWhole) console.log('hung receiver', { leaseMs, hangMs, transactionsHeld: 0 })
  },
)

async function readDatabaseTime(): Promise<string> {
  const [row] = await stack.database.in('sandbox')<{ at: string }[]>`
    select clock_timestamp()::text as at`
  return row!.at
}

/** Counts the transactions that have been open since `time` or longer. */
async function countTransactionsSince(time: string): Promise<number> {
  const [row] = await stack.database.in('sandbox')<{ open: number }[]>`
    select count(*)::int as open from pg_stat_activity
    where datname = current_database() and xact_start <= ${time}`
  return row!.open
}

test('delivers events of one customer in the order in which they were committed', async () => {
  const receiver = await receive(async () => {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 8))
    return { status: 200 }
  })
  await endpointOf(receiver)
  await stack.start()
  await stack.start()
  const customers = Array.from({ length: 60 }, (_, index) => `cus_${index % 3}`)
  const emitted = [
    ...(await stack.emit('prov', customers)),
    ...(await stack.emit('prov', customers)),
  ]
  await until(() => receiver.received.length === emitted.length)
  for (const [index, customer] of ['cus_0', 'cus_1', 'cus_2'].entries()) {
    const ofCustomer = receiver.received.filter(({ body }) => body.includes(`"${customer}"`))
    expect(ofCustomer.map(({ eventId }) => eventId)).toEqual(
      emitted.filter((_, place) => place % 3 === index),
    )
  }
})

test('sends to other endpoints while one receiver never responds', async () => {
  const hanging = await receive(() => 'hang')
  const healthy = await receive(() => ({ status: 200 }))
  await endpointOf(hanging, 'we_HANGING')
  const references = Array.from(
    { length: 20 },
    (_, index) => `we_${String(index).padStart(2, '0')}`,
  )
  await stack.emit(
    'prov',
    Array<string>(500)
      .fill('')
      .map((_, index) => `cus_${index}`),
  )
  for (const reference of references) {
    await stack.insertEndpoint({ providerId: 'other', reference, url: healthy.url })
  }
  await stack.start({ inFlightMax: 32, firstAttemptsReserved: 16, outboundTimeoutMs: 60_000 })
  await until(() => hanging.received.length === 4)
  await stack.emit(
    'other',
    Array<string>(10)
      .fill('')
      .map((_, index) => `cus_${index}`),
  )
  await until(() => healthy.received.length === 200)
  // The limit of one endpoint, as long as none of its deliveries is answered.
  expect(hanging.received.length).toBe(4)
})

test('builds the body from the columns of the event if its stored bytes are gone', async () => {
  const receiver = await receive(() => ({ status: 200 }))
  await endpointOf(receiver)
  const [eventId] = await stack.emit('prov', ['cus_1'])
  await stack.database.in('sandbox')`update outbox set body = null where event_id = ${eventId!}`
  await stack.start()
  await until(() => receiver.received.length === 1)
  expect(JSON.parse(receiver.received[0]!.body)).toMatchObject({
    id: eventId,
    type: 'payment.succeeded',
    data: { object: { id: 'pay_1', customer: 'cus_1' }, previous_attributes: null },
    request: { id: null, idempotency_key: null },
  })
})

test('fails a delivery at once if its event is gone or unreadable, and still sends the others', async () => {
  const receiver = await receive(() => ({ status: 200 }))
  await endpointOf(receiver)
  const customers = Array.from({ length: 20 }, (_, index) => `cus_${index}`)
  const [gone, unreadable, ...others] = await stack.emit('prov', customers)
  const sql = stack.database.in('sandbox')
  await sql`delete from outbox where event_id = ${gone!}`
  // JSON that is nested too deeply to be written as text again.
  const deep = `{"deep": ${'['.repeat(8_000)}${']'.repeat(8_000)}}`
  await sql`
    update outbox set body = null, object = ${deep}::text::jsonb where event_id = ${unreadable!}`
  await stack.start({ perEndpointMax: 20 })
  await until(async () => (await countStates())['pending'] === undefined)
  expect(await countStates()).toEqual({ succeeded: 18, failed: 2 })
  expect(new Set(receiver.received.map(({ eventId }) => eventId))).toEqual(new Set(others))
  const notSent = (await readAttempts()).filter(({ error_class }) => error_class !== null)
  expect(notSent.map(({ error_class }) => String(error_class))).toEqual(['no-event', 'no-event'])
  expect(await readEndpoint()).toEqual({
    status: 'enabled',
    disabled_reason: null,
    failure_count: 0,
  })
})
