import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '@tollgate/platform/clock/clock'
import { EventLogUnavailableError } from '@tollgate/platform/event-log/event-log'
import { RedisUnavailableError } from '@tollgate/platform/hot-state/redis/redis-unavailable-error'
import { SecretKeysMissingError } from '@tollgate/platform/secrets/secret-errors'
import { PaymentProcessorUnavailableError } from '@tollgate/platform/payments/payment-processor'
import { PaymentsNotConfiguredError } from '@tollgate/domain/payments/payment-parts'
import { PaymentUnknownError } from '@tollgate/domain/payments/payment-unknown-error'
import { PasswordsBusyError } from '@tollgate/domain/console/passwords'
import { TooManySessionsError } from '@tollgate/domain/sessions/too-many-sessions-error'
import { UsageStoreUnavailableError } from '@tollgate/platform/usage-store/usage-store'
import { requestIdHeader } from '@tollgate/schemas/http/request-id'
import { validationErrorBody } from '@tollgate/schemas/http/validation-error'
import { RefusalError, refusals } from '../../errors.ts'
import type { NotFoundPage } from '../../pages/provider/not-found-page.ts'
import type { ApiServer } from '../api-server.ts'
import type { AllowedMethods } from './allowed-methods.ts'
import { InvalidRequestError } from './validation.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body is a picture, not JSON. */
    takesPicture?: boolean
  }
}

/** Decides the answer to a request that no route takes. */
type Unrouted = {
  readonly allowedMethods: AllowedMethods
  /** Answers browsers with a page; returns undefined for other clients. */
  readonly notFoundPage: NotFoundPage
}

/** Turns whatever was thrown into the wire contract's error bodies. Details of a fault of ours stay in the log. */
export function installErrorHandler(
  app: ApiServer,
  clock: Clock,
  { allowedMethods, notFoundPage }: Unrouted,
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
    const refusal = refusalOfUnrouted(request, allowedMethods)
    const page = refusal.statusCode === 404 ? notFoundPage(request, reply) : undefined
    return page ?? sendRefusal(refusal, request, reply)
  })
}

/** The schema of a body gets null in place of a body that is missing. */
function isWithoutBody(error: InvalidRequestError, { body }: FastifyRequest): boolean {
  return error.validationContext === 'body' && body === undefined
}

/** The path may be served with other methods. */
function refusalOfUnrouted(request: FastifyRequest, allowedMethods: AllowedMethods): RefusalError {
  const path = pathOf(request)
  const allowed = allowedMethods(path)
  return allowed.length === 0 || allowed.includes(request.method)
    ? refusals.routeNotFound(request.method, path)
    : refusals.methodNotAllowed(allowed)
}

/** For what the server refuses before it looks for a route, such as a path that cannot be decoded. */
export function answerUnrouted(error: Error, request: FastifyRequest, reply: FastifyReply): void {
  void reply.header(requestIdHeader, request.id)
  void sendRefusal(refusalOf(error, request), request, reply)
}

/** What the caller is told about it. */
export function statusOf(error: Error): number {
  return error instanceof InvalidRequestError ? 400 : refusalOf(error, undefined).statusCode
}

function refusalOf(error: Error, request: FastifyRequest | undefined): RefusalError {
  if (error instanceof RefusalError) return error
  if (error instanceof TooManySessionsError) return refusals.tooManySessions(error.waitMs)
  if (error instanceof SecretKeysMissingError) return refusals.secretsUnavailable()
  if (error instanceof PaymentsNotConfiguredError) return refusals.paymentsNotConfigured()
  if (error instanceof PaymentProcessorUnavailableError || error instanceof PaymentUnknownError) {
    return refusals.processorUnavailable()
  }
  if (isUnavailable(error)) return refusals.partUnavailable()
  const { statusCode = 500, code } = error as FastifyError
  if (statusCode < 400 || statusCode > 499) return refusals.internalError()
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    const takesPicture = request?.routeOptions.config.takesPicture === true
    return takesPicture ? refusals.notAPicture() : refusals.unsupportedMediaType()
  }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return refusals.bodyTooLarge(request?.routeOptions.bodyLimit ?? 0)
  }
  return refusals.malformedRequest(statusCode, error.message)
}

/** What the PostgreSQL driver and the server say when there is no connection, no disk or no memory to be had, or no answer in time. */
const unavailableCodes: ReadonlySet<string> = new Set([
  'CONNECT_TIMEOUT',
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  '53100',
  '53200',
  '53300',
  '55P03',
  '57014',
  '57P01',
  '57P02',
  '57P03',
])

function isUnavailable(error: Error): boolean {
  if (error instanceof UsageStoreUnavailableError) return true
  if (error instanceof EventLogUnavailableError) return true
  if (error instanceof RedisUnavailableError) return true
  if (error instanceof PasswordsBusyError) return true
  const code = (error as { code?: unknown }).code
  return typeof code === 'string' && unavailableCodes.has(code)
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

/** As text, so that no response schema of the route is applied to it. */
function sendJson(reply: FastifyReply, statusCode: number, body: unknown): FastifyReply {
  return reply.code(statusCode).type('application/json; charset=utf-8').send(JSON.stringify(body))
}

function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? request.url
}
