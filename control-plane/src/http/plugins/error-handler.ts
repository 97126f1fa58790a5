import { STATUS_CODES } from 'node:http'
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
import { validationErrorBody } from '@tollgate/schemas/http/validation-error'
import { RefusalError, refusals } from '../../errors.ts'
import type { NotFoundPage } from '../../pages/provider/not-found-page.ts'
import type { ApiServer } from '../api-server.ts'
import { InvalidRequestError } from './validation.ts'

/** Turns whatever was thrown into the wire contract's error bodies. Details of a fault of ours stay in the log. */
export function installErrorHandler(
  app: ApiServer,
  clock: Clock,
  notFoundPage: NotFoundPage = () => undefined,
): void {
  app.setErrorHandler((error: Error, request, reply) => {
    if (error instanceof InvalidRequestError) {
      return sendInvalid(error, request, reply, clock)
    }
    const refusal = refusalOf(error)
    if (refusal.statusCode >= 500) request.log.error({ err: error }, 'request failed')
    return sendRefusal(refusal, reply)
  })
  app.setNotFoundHandler(
    (request, reply) =>
      notFoundPage(request, reply) ??
      sendRefusal(refusals.routeNotFound(request.method, pathOf(request)), reply),
  )
}

/** For what the server refuses before it looks for a route, such as a path that cannot be decoded. */
export function answerUnrouted(error: Error, _request: FastifyRequest, reply: FastifyReply): void {
  void sendRefusal(refusalOf(error), reply)
}

/** What the caller is told about it. */
export function statusOf(error: Error): number {
  return error instanceof InvalidRequestError ? 400 : refusalOf(error).statusCode
}

function refusalOf(error: Error): RefusalError {
  if (error instanceof RefusalError) return error
  if (error instanceof TooManySessionsError) return refusals.tooManySessions(error.waitMs)
  if (error instanceof SecretKeysMissingError) return refusals.secretsUnavailable()
  if (error instanceof PaymentsNotConfiguredError) return refusals.paymentsNotConfigured()
  if (error instanceof PaymentProcessorUnavailableError || error instanceof PaymentUnknownError) {
    return refusals.processorUnavailable()
  }
  if (isUnavailable(error)) return refusals.partUnavailable()
  const { statusCode = 500 } = error as FastifyError
  if (statusCode < 400 || statusCode > 499) {
    return new RefusalError(500, {
      error: 'Internal Server Error',
      message: 'Internal server error',
    })
  }
  const reason = STATUS_CODES[statusCode] ?? 'Bad Request'
  return new RefusalError(statusCode, { error: reason, message: error.message })
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
  const body = validationErrorBody(error.issues, pathOf(request), nowIso)
  return sendJson(reply, 400, body)
}

function sendRefusal(refusal: RefusalError, reply: FastifyReply): FastifyReply {
  if (refusal.retryAfterSeconds !== undefined) {
    void reply.header('retry-after', refusal.retryAfterSeconds)
  }
  return sendJson(reply, refusal.statusCode, refusal.body)
}

/** As text, so that no response schema of the route is applied to it. */
function sendJson(reply: FastifyReply, statusCode: number, body: unknown): FastifyReply {
  return reply.code(statusCode).type('application/json; charset=utf-8').send(JSON.stringify(body))
}

function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? request.url
}
