import { afterAll, beforeAll, expect, test } from 'vitest'
import { insertOutboxEvents } from '@tollgate/domain/outbox/repository'
import { eventTypes } from '@tollgate/schemas/event-types'
import type { WebhookDeliverySummaryBody } from '@tollgate/schemas/http/webhook-deliveries'
import type { WebhookEndpointBody } from '@tollgate/schemas/http/webhook-endpoints'
import { startTestStack, type TestStack } from './test-stack.ts'

let stack: TestStack

beforeAll(async () => {
  stack = await startTestStack()
})
afterAll(() => stack.stop())

test('sends a type that is added later to endpoints for all types, and not to endpoints that list all types', async () => {
  const { providerId, sandboxKey } = await stack.createTenant()
  const create = async (fields: object): Promise<string> => {
    const all = { url: 'https://hooks.example.com', ...fields }
    const path = '/v1/webhook_endpoints'
    return (await stack.call<WebhookEndpointBody>(sandboxKey, 'POST', path, all)).body.id
  }
  const askedForAll = await create({ enabledEvents: [] })
  const unspecified = await create({})
  await create({ enabledEvents: eventTypes })
  const event = {
    eventId: 'evt_later',
    providerId,
    type: 'customer.invented_later',
    livemode: false,
    object: { id: 'cus_1' },
    previousAttributes: null,
    requestId: null,
    idempotencyKey: null,
    createdAt: new Date(),
  }
  await stack.database
    .of(providerId)
    .in('sandbox')
    .write((sql) => insertOutboxEvents(sql, [event]))
  const { deliveries } = (
    await stack.call<{ deliveries: WebhookDeliverySummaryBody[] }>(
      sandboxKey,
      'GET',
      '/v1/ui/webhook-deliveries',
    )
  ).body
  expect(deliveries.map(({ type, endpointId }) => [type, endpointId]).toSorted()).toEqual(
    [askedForAll, unspecified].toSorted().map((endpointId) => [event.type, endpointId]),
  )
})
