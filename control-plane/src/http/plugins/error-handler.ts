import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '@tollgate/platform/clock/clock'
import { requestIdHeader } from '@tollgate/schemas/http/request-id'
import { validationErrorBody } from '@tollgate/schemas/http/validation-error'
import { InvalidRequestError, refusals } from '../../errors.ts'
import { type RefusalError } from '../../refusal.ts'
import { refusalOf } from '../../access/refusal-of.ts'
import type { NotFoundPage } from '../../pages/provider/not-found-page.ts'
import type { ApiServer } from '../../access/api-server.ts'
import type { AllowedMethods } from './allowed-methods.ts'

/** Decides the response to a request without a matching route. */
type UnroutedOptions = {
  readonly allowedMethods: AllowedMethods
  /** Sends a page to browsers. Returns undefined for other clients. */
  readonly notFoundPage: NotFoundPage
}

/** Converts every thrown error into an error body of the wire contract. Details of internal errors stay in the log. */
export function installErrorHandler(
  app: ApiServer,
  clock: Clock,
  { allowedMethods, notFoundPage }: UnroutedOptions,
): void {
  app.setErrorHandler((error: Error, request, reply) => {
    if (error instanceof InvalidRequestError) {
      return isWithoutBody(error, request)
        ? sendRefusal(refusals.badBody('empty_body'), request, reply)
        : sendInvalid(error, request, reply, clock)
    }
    const refusal = refusalOf(error, request)
    if (refusal.statusCode >= 500) request.log.error({ err: error }, 'request failed')
    return sendRefusal(refusal, request, reply)
  })
  app.setNotFoundHandler((request, reply) => {
    const refusal = unroutedRefusal(request, allowedMethods)
    const page = refusal.statusCode === 404 ? notFoundPage(request, reply) : undefined
    return page ?? sendRefusal(refusal, request, reply)
  })
}

/** Returns whether the body is missing. Fastify validates a missing body as null. */
function isWithoutBody(error: InvalidRequestError, { body }: FastifyRequest): boolean {
  return error.validationContext === 'body' && body === undefined
}

/** Returns 405 if the path exists with other methods, otherwise 404. */
function unroutedRefusal(request: FastifyRequest, allowedMethods: AllowedMethods): RefusalError {
  const path = pathOf(request)
  const allowed = allowedMethods(path)
  return allowed.length === 0 || allowed.includes(request.method)
    ? refusals.routeNotFound(request.method, path)
    : refusals.methodNotAllowed(allowed)
}

/** Answers requests that the server refuses before routing, such as a path that cannot be decoded. */
export function sendUnrouted(error: Error, request: FastifyRequest, reply: FastifyReply): void {
  void reply.header(requestIdHeader, request.id)
  void sendRefusal(refusalOf(error, request), request, reply)
}

function sendInvalid(
  error: InvalidRequestError,
  request: FastifyRequest,
  reply: FastifyReply,
  clock: Clock,
): FastifyReply {
  const nowIso = new Date(clock.now()).toISOString()
  const body = validationErrorBody(error.issues, pathOf(request), nowIso, error.code)
  return sendJson(reply, 400, { ...body, requestId: request.id })
}

function sendRefusal(
  { statusCode, body, headers }: RefusalError,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  void reply.headers(headers)
  return sendJson(reply, statusCode, { ...body, requestId: request.id })
}

/** Sends JSON as text, so that no response schema of the route is applied to it. */
function sendJson(reply: FastifyReply, statusCode: number, body: unknown): FastifyReply {
  return reply.code(statusCode).type('application/json; charset=utf-8').send(JSON.stringify(body))
}

function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? request.url
}
