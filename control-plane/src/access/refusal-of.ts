import type { FastifyError, FastifyRequest } from 'fastify'
import { EventLogUnavailableError } from '@tollgate/platform/event-log/event-log'
import { RedisUnavailableError } from '@tollgate/platform/hot-state/redis/redis-unavailable-error'
import { SecretKeysMissingError } from '@tollgate/platform/secrets/secret-errors'
import { PaymentProcessorUnavailableError } from '@tollgate/platform/payments/payment-processor'
import { UsageStoreUnavailableError } from '@tollgate/platform/usage-store/usage-store'
import {
  PaymentsNotConfiguredError,
  PaymentUnknownError,
} from '@tollgate/domain/payments/payment-parts'
import { TaxServiceUnavailableError } from '@tollgate/domain/tax-service/tax-question'
import { PasswordsBusyError } from '@tollgate/domain/console/passwords'
import { TooManySessionsError } from '@tollgate/domain/sessions/too-many-sessions-error'
import { InvalidRequestError, refusals } from '../errors.ts'
import { RefusalError } from '../refusal.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The request body is an image, not JSON. */
    takesImage?: boolean
  }
}

/** Returns the HTTP status of the response to a request that failed with `error`. */
export function statusOf(error: Error): number {
  return error instanceof InvalidRequestError ? 400 : refusalOf(error, undefined).statusCode
}

/** Returns the refusal that answers a request that failed with `error`. Details of internal errors stay in the log. */
export function refusalOf(error: Error, request: FastifyRequest | undefined): RefusalError {
  if (error instanceof RefusalError) return error
  if (error instanceof TooManySessionsError) return refusals.tooManySessions(error.waitMs)
  if (error instanceof SecretKeysMissingError) return refusals.secretsUnavailable()
  if (error instanceof PaymentsNotConfiguredError) return refusals.paymentsNotConfigured()
  if (error instanceof PaymentProcessorUnavailableError || error instanceof PaymentUnknownError) {
    return refusals.processorUnavailable()
  }
  if (error instanceof TaxServiceUnavailableError) return refusals.taxServiceUnavailable()
  if (isUnavailable(error)) return refusals.partUnavailable()
  const { statusCode = 500, code } = error as FastifyError
  if (statusCode < 400 || statusCode > 499) return refusals.internalError()
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    const takesImage = request?.routeOptions.config.takesImage === true
    return takesImage ? refusals.notAnImage() : refusals.unsupportedMediaType()
  }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return refusals.bodyTooLarge(request?.routeOptions.bodyLimit ?? 0)
  }
  return refusals.malformedRequest(statusCode, error.message)
}

/** Error codes of the PostgreSQL driver and server that mean unavailable: no connection, no disk space, no memory, or a timeout. */
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
