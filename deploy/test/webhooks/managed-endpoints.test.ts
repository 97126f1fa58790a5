import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest'
import type {
  WebhookDeliveryBody,
  WebhookReplayBody,
} from '@tollgate/schemas/http/webhook-deliveries'
import type {
  WebhookEndpointBody,
  WebhookEndpointWithSecretBody,
} from '@tollgate/schemas/http/webhook-endpoints'
import { isFirstSignedWith, startWebhookWorld } from './webhook-world.ts'

/* Management of endpoints over HTTP, and its effects on a receiver. */

let endpoint: WebhookEndpointWithSecretBody

const world = await startWebhookWorld()
afterAll(() => world.stop())

beforeEach(async () => {
  endpoint = await world.call('POST', '/v1/webhook_endpoints', { url: world.url })
})

afterEach(async () => {
  world.respondWith = () => 200
  const path = '/v1/webhook_endpoints'
  const { webhookEndpoints } = await world.call<{ webhookEndpoints: WebhookEndpointBody[] }>(
    'GET',
    path,
  )
  for (const { id } of webhookEndpoints) await world.call('DELETE', `${path}/${id}`)
})

const at = (path = '') => `/v1/webhook_endpoints/${endpoint.id}${path}`
const update = (body: object) => world.call<WebhookEndpointBody>('PATCH', at(), body)

/** Waits until the event's newest delivery has the given state. */
const logged = (eventId: string, state: string) =>
  vi.waitUntil(
    async () => {
      const [newest] = await world.deliveriesOf(eventId)
      return newest?.state === state && newest
    },
    { timeout: 20_000, interval: 50 },
  )

test('delivers events signed with the displayed secret, and logs the deliveries', async () => {
  const eventId = await world.makeEvent()
  const [received] = await world.arrived(eventId)
  expect(isFirstSignedWith(endpoint.secret, received!)).toBe(true)
  const delivery = await logged(eventId, 'succeeded')
  expect(delivery).toMatchObject({
    id: received!.headers['sv-delivery'],
    endpointId: endpoint.id,
    type: 'customer.created',
    attempts: [{ number: 1, status: 200, address: '127.0.0.1', isReversed: false }],
  })
  const one = `/v1/ui/webhook-deliveries/${delivery.id}`
  expect(await world.call<WebhookDeliveryBody>('GET', one)).toMatchObject({
    attempts: [{ answer: '{"received":true}' }],
  })
})

test('holds events of a disabled endpoint, and sends them once it is enabled', async () => {
  await update({ status: 'disabled' })
  const eventId = await world.makeEvent()
  await logged(eventId, 'held')
  await update({ status: 'enabled' })
  await world.arrived(eventId)
  await logged(eventId, 'succeeded')
})

test('never sends waiting events of a deleted endpoint', async () => {
  await update({ status: 'disabled' })
  const eventId = await world.makeEvent()
  await world.call('DELETE', at())
  await logged(eventId, 'skipped')
  expect(world.received.filter(({ headers }) => headers['sv-event-id'] === eventId)).toEqual([])
})

test('resends the same bytes under another delivery id', async () => {
  const eventId = await world.makeEvent()
  await world.arrived(eventId)
  const { id } = await logged(eventId, 'succeeded')
  const replayed = await world.call<WebhookDeliveryBody>(
    'POST',
    `/v1/ui/webhook-deliveries/${id}/replay`,
  )
  const [first, second] = await world.arrived(eventId, 2)
  expect(second!.body).toBe(first!.body)
  expect(second!.headers).toMatchObject({ 'sv-delivery': replayed.id, 'sv-attempt': '1' })
  expect(first!.headers['sv-delivery']).toBe(id)
})

test('resends all events of a period by one request', async () => {
  const eventIds = [await world.makeEvent(), await world.makeEvent(), await world.makeEvent()]
  for (const eventId of eventIds) await logged(eventId, 'succeeded')
  const { id } = await world.call<WebhookReplayBody>('POST', '/v1/ui/webhook-replays', {
    endpointId: endpoint.id,
    from: endpoint.createdAt,
  })
  for (const eventId of eventIds) {
    await world.arrived(eventId, 2)
    expect(await logged(eventId, 'succeeded')).toMatchObject({ replayId: id })
  }
  const replay = await world.call<WebhookReplayBody>('GET', `/v1/ui/webhook-replays/${id}`)
  expect(replay).toMatchObject({ state: 'finished', queued: 3 })
})

test('promotes a new secret that the receiver already uses', async () => {
  const rotated = await world.call<WebhookEndpointWithSecretBody>('POST', at('/rotate'))
  const [old, young] = rotated.signingSecrets
  world.respondWith = (received) => (isFirstSignedWith(rotated.secret, received) ? 200 : 401)
  const eventId = await world.makeEvent()
  const [refused, taken] = await world.arrived(eventId, 2)
  expect(isFirstSignedWith(endpoint.secret, refused!)).toBe(true)
  expect(taken!.headers['sv-delivery']).toBe(refused!.headers['sv-delivery'])
  expect(await logged(eventId, 'succeeded')).toMatchObject({
    attempts: [
      { number: 1, status: 401, isReversed: false },
      { number: 1, status: 200, isReversed: true },
    ],
  })
  await vi.waitUntil(
    async () => {
      const { signingSecrets } = await world.call<WebhookEndpointBody>('GET', at())
      return signingSecrets[0]!.id === young!.id && signingSecrets[1]!.id === old!.id
    },
    { timeout: 20_000, interval: 50 },
  )
})
