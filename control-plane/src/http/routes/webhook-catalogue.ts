import { eventCategories } from '@tollgate/schemas/event-types'
import {
  eventApiVersion,
  eventEnvelopeSchema,
  eventTypesResponseSchema,
  type EventEnvelope,
} from '@tollgate/schemas/http/webhooks'
import type { ApiServer } from '../api-server.ts'

const tags = ['Webhooks']

const eventTypes = eventCategories.map(({ events, ...category }) => ({
  ...category,
  events: events.map((event) => ({ ...event, status: 'live' as const })),
}))

/** A receiver can be written and tried against it. The amounts and references are made up. */
const sampleEvent: EventEnvelope = {
  id: 'evt_7H2K9QXM',
  type: 'payment.succeeded',
  created: 1_760_000_000,
  api_version: eventApiVersion,
  data: {
    object: {
      id: 'pi_3SAMPLE',
      amount: 4900,
      currency: 'usd',
      customer: 'cus_4R8T1VZC',
      product: 'prd_9B3N6WPD',
      plan: 'pln_2F5J8LYG',
      processor_payment_intent: 'pi_3SAMPLE',
      transaction_reference: 'txn_6M1S4ZQA',
      created: 1_760_000_000,
    },
    previous_attributes: null,
  },
  livemode: false,
  request: { id: null, idempotency_key: null },
}

/** What there is to listen to, and what an event looks like. */
export function registerWebhookCatalogueRoutes(app: ApiServer): void {
  app.get(
    '/v1/sdk/webhooks/event-types',
    { schema: { tags, response: { 200: eventTypesResponseSchema } } },
    () => eventTypes,
  )

  app.get(
    '/v1/sdk/webhooks/event-schema',
    { schema: { tags, response: { 200: eventEnvelopeSchema } } },
    () => sampleEvent,
  )
}
