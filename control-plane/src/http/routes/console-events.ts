import { z } from 'zod'
import type { OutboxEvent } from '@tollgate/domain/outbox/outbox-event'
import { redactSession } from '@tollgate/domain/outbox/redact-session'
import { findOutboxEvent, listNewestEvents } from '@tollgate/domain/outbox/repository'
import {
  eventSchema,
  eventsQuerySchema,
  eventsResponseSchema,
  type EventSummaryBody,
} from '@tollgate/schemas/http/console-lists'
import { clampPage, requiredReference } from '@tollgate/schemas/http/fields'
import { refusals } from '../../errors.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf } from '../../access/caller.ts'
import { mayManage } from '../../access/scopes.ts'
import { read, type ReadParts } from '../../access/read.ts'
import { definedFields } from '../../domain/defined-fields.ts'

const tags = ['Events']

/**
 * Registers the routes that list events, with the same objects as in webhooks. Callers without the `manage` scope do not see links
 * to customers' pages.
 */
export function registerEventRoutes(app: ApiServer, parts: ReadParts): void {
  app.get(
    '/v1/ui/events',
    {
      schema: { tags, querystring: eventsQuerySchema, response: { 200: eventsResponseSchema } },
    },
    async (request) => {
      const caller = callerOf(request)
      const { type, before } = request.query
      const { limit } = clampPage(request.query)
      const filter = { type: type || undefined, before: before || undefined, rowsMax: limit + 1 }
      const found = await read(parts, caller, (sql) =>
        listNewestEvents(sql, caller.providerId, filter),
      )
      return { events: found.slice(0, limit).map(summaryToHttp), hasMore: found.length > limit }
    },
  )

  app.get(
    '/v1/ui/events/:eventId',
    {
      schema: {
        tags,
        params: z.object({ eventId: requiredReference }),
        response: { 200: eventSchema },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const { eventId } = request.params
      const event = await read(parts, caller, (sql) =>
        findOutboxEvent(sql, caller.providerId, eventId),
      )
      if (event === undefined) throw refusals.eventNotFound(eventId)
      const { type, object, previousAttributes } = event
      const shown = mayManage(request) ? object : redactSession(type, object)
      return {
        ...summaryToHttp(event),
        data: { object: shown, previous_attributes: previousAttributes },
      }
    },
  )
}

function summaryToHttp(event: OutboxEvent): EventSummaryBody {
  const { eventId, type, livemode, createdAt, requestId, idempotencyKey } = event
  return {
    id: eventId,
    type,
    livemode,
    createdAt: createdAt.toISOString(),
    ...definedFields({ requestId, idempotencyKey }),
  }
}
