import { eventCategories } from '@tollgate/schemas/event-types'
import { sampleEvent } from '@tollgate/schemas/http/examples/events'
import {
  eventEnvelopeSchema,
  eventSchemaQuerySchema,
  eventTypesResponseSchema,
} from '@tollgate/schemas/http/webhooks'
import type { ApiServer } from '../../access/api-server.ts'

const tags = ['Webhooks']

const eventTypes = eventCategories.map(({ events, ...category }) => ({
  ...category,
  events: Object.entries(events).map(([type, { description }]) => ({
    type,
    description,
    status: 'live' as const,
  })),
}))

/** Registers the routes that list the event types and show an example of each event. */
export function registerWebhookCatalogueRoutes(app: ApiServer): void {
  app.get(
    '/v1/sdk/webhooks/event-types',
    { schema: { tags, response: { 200: eventTypesResponseSchema } } },
    () => eventTypes,
  )

  app.get(
    '/v1/sdk/webhooks/event-schema',
    {
      schema: {
        tags,
        querystring: eventSchemaQuerySchema,
        response: { 200: eventEnvelopeSchema },
      },
    },
    (request) => sampleEvent(request.query.type),
  )
}
