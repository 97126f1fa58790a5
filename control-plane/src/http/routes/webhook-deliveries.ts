import { z } from 'zod'
import {
  findDelivery,
  listAttempts,
  listDeliveries,
  type DeliveryFilter,
} from '@tollgate/domain/webhooks/deliveries-repository'
import { replayDelivery } from '@tollgate/domain/webhooks/replay-deliveries'
import { clampPage, requiredReference } from '@tollgate/schemas/http/fields'
import {
  webhookDeliveriesQuerySchema,
  webhookDeliveriesResponseSchema,
  webhookDeliverySchema,
} from '@tollgate/schemas/http/webhook-deliveries'
import { refusals } from '../../errors.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { callerOf, operationOf } from '../../access/caller.ts'
import { mayManage } from '../../access/scopes.ts'
import { read } from '../../access/read.ts'
import { deliverySummaryToHttp, deliveryToHttp } from '../translate/webhook-delivery.ts'

const tags = ['Webhooks']
const params = z.object({ deliveryId: requiredReference })
const config = { scope: ['webhooks', 'read'] } as const

/** Registers the routes that list deliveries with their attempts, and the route that resends one delivery. */
export function registerWebhookDeliveryRoutes(app: ApiServer, parts: ChangeParts): void {
  app.get(
    '/v1/ui/webhook-deliveries',
    {
      config,
      schema: {
        tags,
        querystring: webhookDeliveriesQuerySchema,
        response: { 200: webhookDeliveriesResponseSchema },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const { providerId } = caller
      const { limit } = clampPage(request.query)
      const filter = filterOf(request.query, limit + 1)
      const { before } = filter
      return read(parts, caller, async (sql) => {
        if (before !== undefined && !(await findDelivery(sql, providerId, before))) {
          throw refusals.webhookPageUnknown(before)
        }
        const found = await listDeliveries(sql, providerId, filter)
        const page = found.slice(0, limit)
        const references = page.map(({ reference }) => reference)
        const attempts = await listAttempts(sql, providerId, references)
        const deliveries = page.map((delivery) =>
          deliverySummaryToHttp(delivery, attempts.get(delivery.reference) ?? []),
        )
        return { deliveries, hasMore: found.length > limit }
      })
    },
  )

  app.get(
    '/v1/ui/webhook-deliveries/:deliveryId',
    { config, schema: { tags, params, response: { 200: webhookDeliverySchema } } },
    async (request) => {
      const caller = callerOf(request)
      const { deliveryId } = request.params
      const found = await read(parts, caller, async (sql) => {
        const delivery = await findDelivery(sql, caller.providerId, deliveryId)
        if (delivery === undefined) return undefined
        const attempts = await listAttempts(sql, caller.providerId, [deliveryId])
        const shown = { mayManage: mayManage(request) }
        return deliveryToHttp(delivery, attempts.get(deliveryId) ?? [], shown)
      })
      if (found === undefined) throw refusals.webhookDeliveryNotFound(deliveryId)
      return found
    },
  )

  registerReplay(app, parts)
}

function registerReplay(app: ApiServer, parts: ChangeParts): void {
  app.post(
    '/v1/ui/webhook-deliveries/:deliveryId/replay',
    {
      config: { scope: 'webhooks' },
      schema: { tags, params, response: { 201: webhookDeliverySchema } },
    },
    async (request, reply) => {
      const { deliveryId } = request.params
      const outcome = await commit(parts, operationOf(request, parts.clock), (work) =>
        replayDelivery(work, deliveryId),
      )
      switch (outcome.kind) {
        case 'not-found':
          throw refusals.webhookDeliveryNotFound(deliveryId)
        case 'waiting':
          throw refusals.webhookDeliveryPending(deliveryId)
        case 'endpoint-deleted':
          throw refusals.webhookEndpointDeleted()
        case 'queued':
          return reply.code(201).send(deliveryToHttp(outcome.delivery, [], { mayManage: false }))
      }
    },
  )
}

function filterOf(
  query: z.infer<typeof webhookDeliveriesQuerySchema>,
  rowsMax: number,
): DeliveryFilter {
  const { endpointId, eventId, type, state, from, to, before } = query
  return {
    endpointRef: endpointId || undefined,
    eventId: eventId || undefined,
    type,
    state,
    from: from === undefined ? undefined : new Date(from),
    to: to === undefined ? undefined : new Date(to),
    before: before || undefined,
    rowsMax,
  }
}
