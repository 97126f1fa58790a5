import type { z } from 'zod'
import {
  cloudEventResponseSchema,
  cloudEventSchema,
  cloudEventsResponseSchema,
  cloudEventsSchema,
} from '@tollgate/schemas/http/cloud-events'
import {
  meterEventResponseSchema,
  meterEventSchema,
  meterEventsBulkResponseSchema,
  meterEventsBulkSchema,
} from '@tollgate/schemas/http/meter-events'
import {
  usageResponseSchema,
  usageSchema,
  usagesBulkResponseSchema,
  usagesBulkSchema,
} from '@tollgate/schemas/http/usages'
import { describedSchema } from './described-schema.ts'

type Described = { readonly body: z.ZodType; readonly reply: z.ZodType }

/** Operations that the data plane serves itself. The API description contains them, because clients see one API. */
const operations: Readonly<Record<string, Described>> = {
  '/v1/events': {
    body: cloudEventSchema,
    reply: cloudEventResponseSchema,
  },
  '/v1/events/batch': {
    body: cloudEventsSchema,
    reply: cloudEventsResponseSchema,
  },
  '/v1/sdk/meter-events': {
    body: meterEventSchema,
    reply: meterEventResponseSchema,
  },
  '/v1/sdk/meter-events/bulk': {
    body: meterEventsBulkSchema,
    reply: meterEventsBulkResponseSchema,
  },
  '/v1/sdk/usages': {
    body: usageSchema,
    reply: usageResponseSchema,
  },
  '/v1/sdk/usages/bulk': {
    body: usagesBulkSchema,
    reply: usagesBulkResponseSchema,
  },
}

export function dataPlanePaths(): Record<string, object> {
  const described = Object.entries(operations).map(([path, { body, reply }]) => [
    path,
    {
      post: {
        tags: ['Usage'],
        requestBody: { required: true, content: jsonContent(body, 'input') },
        responses: {
          '200': { description: 'Durably recorded', content: jsonContent(reply, 'output') },
        },
      },
    },
  ])
  return Object.fromEntries(described) as Record<string, object>
}

function jsonContent(schema: z.ZodType, io: 'input' | 'output'): object {
  return { 'application/json': { schema: describedSchema(schema, io) } }
}
