import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Route } from '../api/route.ts'
import { routes } from '../api/routes.ts'
import { serveApi, type ApiParts } from '../api/serve-api.ts'
import { apiVersion } from '../objects/event-log.ts'
import { addressOf, bodyOf, idOf } from './read-request.ts'
import { sendJson, type Origin } from './send.ts'

export function registerApi(app: FastifyInstance, parts: ApiParts & Origin): void {
  for (const route of routes) {
    app.route({
      method: route.method,
      url: route.path.replace(':id', ':id(^[A-Za-z0-9_]+$)'),
      handler: (request, reply) => answerApi(parts, route, request, reply),
    })
  }
}

/** Answers a request to Stripe's API. `route` is undefined if the operation does not exist. */
export async function answerApi(
  parts: ApiParts & Origin,
  route: Route | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { method, headers } = request
  const key = headers['idempotency-key']
  const idempotencyKey = typeof key === 'string' && key !== '' ? key : undefined
  const result = await serveApi(parts, {
    method,
    ...addressOf(request),
    route,
    id: idOf(request),
    body: bodyOf(request),
    authorization: headers.authorization,
    idempotencyKey,
  })
  switch (result.kind) {
    case 'hang':
      return reply.hijack()
    case 'reset':
      reply.hijack()
      request.raw.socket.resetAndDestroy()
      return reply
    case 'answer':
      reply.headers({ 'request-id': result.requestId, 'stripe-version': apiVersion })
      if (idempotencyKey !== undefined) reply.header('idempotency-key', idempotencyKey)
      if (result.isReplay) reply.header('idempotent-replayed', 'true')
      return sendJson(parts, reply, result.answer)
  }
}
