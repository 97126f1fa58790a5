import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { insertOutboxEvents } from '@tollgate/domain/outbox/repository'
import { generateEventId } from '@tollgate/domain/unit-of-work/generate-event-id'
import {
  onlySecret,
  startDispatcherStack,
  until,
  type DispatcherStack,
} from './dispatcher-stack.ts'
import { isSignedBy, startReceiver, type Receiver } from './receiver.ts'

/* Tests which endpoints receive the links of customer pages. */

let stack: DispatcherStack
const receivers: Receiver[] = []

beforeAll(async () => {
  stack = await startDispatcherStack()
})
afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.close()
  await stack.reset()
})
afterAll(() => stack.close())

const page = { url: 'https://pay.example/customer/checkout?id=5e', session_id: '5e' }

async function emitEvent(type: string): Promise<string> {
  const event = {
    eventId: generateEventId(new Date()),
    providerId: 'prov',
    type,
    livemode: false,
    object: { id: 'cs_1', customer: 'cus_1', amount: 500, ...page },
    previousAttributes: null,
    requestId: null,
    idempotencyKey: null,
    createdAt: new Date(),
  }
  await stack.database
    .of('prov')
    .in('sandbox')
    .write((sql) => insertOutboxEvents(sql, [event]))
  return event.eventId
}

async function endpointOf(reference: string, sendsLinks: boolean): Promise<Receiver> {
  const receiver = await startReceiver(({ attempt }) => ({ status: attempt === 1 ? 500 : 200 }))
  receivers.push(receiver)
  await stack.insertEndpoint({ providerId: 'prov', reference, url: receiver.url })
  await stack.database.in('sandbox')`
    update webhook_endpoints set sends_links = ${sendsLinks} where reference = ${reference}`
  return receiver
}

test('redacts links in session events for an endpoint without links, on each attempt, and signs the redacted body', async () => {
  const whole = await endpointOf('we_A', true)
  const redacted = await endpointOf('we_B', false)
  await emitEvent('checkout_session.created')
  await stack.start()
  const objectsOf = (receiver: Receiver): object[] =>
    receiver.received.map(
      ({ body }) => (JSON.parse(body) as { data: { object: object } }).data.object,
    )
  await until(() => whole.received.length === 1 && redacted.received.length === 1)
  await until(async () => {
    const [row] = await stack.database.in('sandbox')<{ count: number }[]>`
      select count(*)::int as count from webhook_deliveries where attempts = 1`
    return row!.count === 2
  })
  stack.now = Date.now() + 3_600_000
  await stack.start()
  await until(() => whole.received.length === 2 && redacted.received.length === 2)
  const rest = { id: 'cs_1', customer: 'cus_1', amount: 500 }
  expect(objectsOf(whole)).toEqual(Array(2).fill({ ...rest, ...page }))
  const hidden = { ...rest, url: '[redacted]', session_id: '[redacted]' }
  expect(objectsOf(redacted)).toEqual(Array(2).fill(hidden))
  for (const received of redacted.received) {
    expect(isSignedBy(received, onlySecret, 'first')).toBe(true)
  }
})

test('redacts links in queued deliveries after an endpoint loses its links, and sends other events unchanged', async () => {
  const receiver = await endpointOf('we_A', true)
  await emitEvent('checkout_session.completed')
  await emitEvent('payment.succeeded')
  await stack.database.in('sandbox')`update webhook_endpoints set sends_links = false`
  await stack.start()
  await until(() => receiver.received.length === 2)
  const texts = Object.fromEntries(
    receiver.received.map(({ body }) => [(JSON.parse(body) as { type: string }).type, body]),
  )
  expect(texts['checkout_session.completed']).not.toContain('5e"')
  expect(texts['payment.succeeded']).toContain(page.url)
})
