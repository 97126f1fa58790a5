import type { z } from 'zod'
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

type Described = { readonly summary: string; readonly body: z.ZodType; readonly reply: z.ZodType }

/** The operations that the data plane serves itself: clients see one API, so they belong into its description. */
const operations: Readonly<Record<string, Described>> = {
  '/v1/sdk/meter-events': {
    summary: 'Record usage on a named meter',
    body: meterEventSchema,
    reply: meterEventResponseSchema,
  },
  '/v1/sdk/meter-events/bulk': {
    summary: 'Record usage on named meters, all records or none',
    body: meterEventsBulkSchema,
    reply: meterEventsBulkResponseSchema,
  },
  '/v1/sdk/usages': {
    summary: 'Record a call',
    body: usageSchema,
    reply: usageResponseSchema,
  },
  '/v1/sdk/usages/bulk': {
    summary: 'Record calls, all or none',
    body: usagesBulkSchema,
    reply: usagesBulkResponseSchema,
  },
}

export function dataPlanePaths(): Record<string, object> {
  const described = Object.entries(operations).map(([path, { summary, body, reply }]) => [
    path,
    {
      post: {
        tags: ['Usage'],
        summary,
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
