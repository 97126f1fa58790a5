import { z } from 'zod'
import { eventDefinitions, eventTypes, type EventType } from '@tollgate/schemas/event-types'
import type { EventDefinition } from '@tollgate/schemas/events/event'
import { sampleEvent } from '@tollgate/schemas/http/examples/events'
import { eventEnvelopeSchema } from '@tollgate/schemas/http/webhooks'
import { describedSchema } from './described-schema.ts'

/** Returns the bodies that endpoints receive, by event type. */
export function describedWebhooks(): Record<string, object> {
  return Object.fromEntries(eventTypes.map((type) => [type, { post: describedDelivery(type) }]))
}

function describedDelivery(type: EventType): object {
  const { description, object, previous }: EventDefinition = eventDefinitions[type]
  const schema = eventEnvelopeSchema.extend({
    type: z.literal(type),
    data: z.object({ object, previous_attributes: previous ?? z.null() }),
  })
  return {
    operationId: type,
    summary: description,
    tags: ['Webhooks'],
    security: [],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: describedSchema(schema, 'output'),
          examples: { [description]: { value: sampleEvent(type) } },
        },
      },
    },
    responses: { '2XX': { description: 'Taken; anything else is tried again later' } },
  }
}
