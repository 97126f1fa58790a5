import { STATUS_CODES } from 'node:http'
import { errorCodes, type ErrorCode } from '@tollgate/schemas/http/error-codes'
import { keyMismatchBody, type ErrorBody } from '@tollgate/schemas/http/errors'
import {
  bodyMessages,
  bodyTooLargeMessage,
  keyMessages,
  methodMessage,
  missingScopeMessage,
  unsupportedMediaTypeMessage,
  type BodyFault,
} from '@tollgate/schemas/http/same-words'
import type { UnavailableCode } from '../domain/unavailable-error.ts'
import type { Answer, HeaderList } from './http-front.ts'
import { knownMethods } from './known-methods.ts'

/* Responses that refuse a request, in the error shape of the wire contract. The front adds the request id. */

export function jsonAnswer(status: number, body: unknown, headers?: HeaderList): Answer {
  const text = JSON.stringify(body)
  return headers === undefined ? { status, body: text } : { status, body: text, headers }
}

export function refusal(code: ErrorCode, message: string, headers?: HeaderList): Answer {
  const [statusCode] = errorCodes[code].statuses as readonly [number]
  const error = STATUS_CODES[statusCode] ?? 'Error'
  const body: Omit<ErrorBody, 'requestId'> = { statusCode, error, message, code }
  return jsonAnswer(statusCode, body, headers)
}

/** Returns the body that the client gets. The body of an error ends with the request id. */
export function bodyWithId({ status, body, isComplete }: Answer, requestId: string): string {
  if (status < 400 || isComplete === true) return body
  return `${body.slice(0, -1)},"requestId":"${requestId}"}`
}

/** Seconds that a client should wait before a retry. The log, the projections and the control plane recover in about that time. */
const retryAfter: HeaderList = [['retry-after', '1']]

/** Refusals of a key, by reason. */
export const keyRefusals = {
  missing_key: refusal('missing_key', keyMessages.missing_key),
  malformed_key: refusal('malformed_key', keyMessages.malformed_key),
  invalid_key: refusal('invalid_key', keyMessages.invalid_key),
  forbidden: refusal('missing_scope', missingScopeMessage('ingest')),
  misplaced: jsonAnswer(403, keyMismatchBody),
} as const

export const methodNotAllowed = refusal('method_not_allowed', methodMessage(['POST']), [
  ['allow', 'POST'],
])

export const unknownMethod = refusal('method_not_allowed', 'The method is not known here', [
  ['allow', [...knownMethods].join(', ')],
])

export const unsupportedMediaType = refusal('unsupported_media_type', unsupportedMediaTypeMessage)

export const overloaded = refusal(
  'overloaded',
  'Too many requests are in flight, try again',
  retryAfter,
)

export const internalError = refusal('internal_error', 'Internal server error')

/* Refusals of requests whose end is ambiguous. The connection is closed after each of them. */

export const ambiguousLength = refusal(
  'ambiguous_length',
  'Send one Content-Length header with a value, or Transfer-Encoding: chunked, and not both',
)

export const malformedLength = refusal(
  'malformed_request',
  'Content-Length must be a decimal number',
)

export const unknownTransferCoding = refusal(
  'ambiguous_length',
  'Transfer-Encoding must be exactly: chunked',
)

export const wrongHost = refusal('wrong_host', 'Send exactly one Host header')

export const repeatedAuthorization = refusal(
  'repeated_credentials',
  'Send at most one Authorization header and one X-API-Key header',
)

export const unknownTarget = refusal('malformed_request', 'The request target must be a path')

export const expectationFailed = refusal('expectation_failed', 'Expect may only be 100-continue')

export const lengthRequired = refusal(
  'length_required',
  'Send the body with a Content-Length header; chunked bodies are not accepted here',
)

/** The HTTP client of the proxy cannot send such a request. */
export const unforwardable = refusal(
  'malformed_request',
  'The request cannot be passed on as it is',
)

export function bodyTooLarge(bodyBytesMax: number): Answer {
  return refusal('body_too_large', bodyTooLargeMessage(bodyBytesMax))
}

export function badBody(fault: BodyFault): Answer {
  return refusal(fault, bodyMessages[fault])
}

export function unavailable(message: string, code: UnavailableCode = 'unavailable'): Answer {
  return refusal(code, message, retryAfter)
}
