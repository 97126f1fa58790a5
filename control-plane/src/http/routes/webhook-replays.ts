import { z } from 'zod'
import { beginReplay } from '@tollgate/domain/webhooks/replay-deliveries'
import { endReplay, findReplay, listReplays } from '@tollgate/domain/webhooks/replays-repository'
import { clampPage, requiredReference } from '@tollgate/schemas/http/fields'
import {
  webhookReplayCreateSchema,
  webhookReplaySchema,
  webhookReplaysPageSchema,
  webhookReplaysQuerySchema,
} from '@tollgate/schemas/http/webhook-deliveries'
import { refusals } from '../../errors.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { callerOf, operationOf } from '../../access/caller.ts'
import { read } from '../../access/read.ts'
import { replayToHttp } from '../translate/webhook-delivery.ts'

const tags = ['Webhooks']
const params = z.object({ replayId: requiredReference })
const readConfig = { scope: ['webhooks', 'read'] } as const
const changeConfig = { scope: 'webhooks' } as const

/** Registers the routes that resend the events of a time range, or the events that an endpoint never acknowledged. */
export function registerWebhookReplayRoutes(app: ApiServer, parts: ChangeParts): void {
  app.get(
    '/v1/ui/webhook-replays',
    {
      config: readConfig,
      schema: {
        tags,
        querystring: webhookReplaysQuerySchema,
        response: { 200: webhookReplaysPageSchema },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const page = clampPage(request.query)
      const { replays, total } = await read(parts, caller, (sql) =>
        listReplays(sql, caller.providerId, page),
      )
      return { replays: replays.map(replayToHttp), total, ...page }
    },
  )

  app.get(
    '/v1/ui/webhook-replays/:replayId',
    { config: readConfig, schema: { tags, params, response: { 200: webhookReplaySchema } } },
    async (request) => {
      const caller = callerOf(request)
      const { replayId } = request.params
      const found = await read(parts, caller, (sql) => findReplay(sql, caller.providerId, replayId))
      if (found === undefined) throw refusals.webhookReplayNotFound(replayId)
      return replayToHttp(found)
    },
  )

  registerChanges(app, parts)
}

function registerChanges(app: ApiServer, parts: ChangeParts): void {
  app.post(
    '/v1/ui/webhook-replays',
    {
      config: changeConfig,
      schema: { tags, body: webhookReplayCreateSchema, response: { 201: webhookReplaySchema } },
    },
    async (request, reply) => {
      const { endpointId, from, to, onlyFailed } = request.body
      const range = {
        endpointRef: endpointId,
        onlyFailed,
        madeFrom: from === undefined ? null : new Date(from),
        madeBefore: to === undefined ? null : new Date(to),
      }
      const operation = operationOf(request, parts.clock)
      if (range.madeFrom !== null && range.madeFrom >= operation.now) {
        throw refusals.webhookReplayInFuture()
      }
      const outcome = await commit(parts, operation, (work) => beginReplay(work, range))
      switch (outcome.kind) {
        case 'not-found':
          throw refusals.webhookEndpointNotFound(endpointId)
        case 'running':
          throw refusals.webhookReplayRunning(outcome.replayRef)
        case 'begun':
          return reply.code(201).send(replayToHttp(outcome.replay))
      }
    },
  )

  app.post(
    '/v1/ui/webhook-replays/:replayId/cancel',
    { config: changeConfig, schema: { tags, params, response: { 200: webhookReplaySchema } } },
    async (request) => {
      const { replayId } = request.params
      const ended = await commit(parts, operationOf(request, parts.clock), (work) =>
        endReplay(work.sql, { ...work, reference: replayId }, 'cancelled', work.now),
      )
      if (ended === undefined) throw refusals.webhookReplayNotFound(replayId)
      return replayToHttp(ended)
    },
  )
}
