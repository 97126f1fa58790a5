import { STATUS_CODES } from 'node:http'
import { keyMismatchBody, type ErrorBody } from '@tollgate/schemas/http/errors'
import type { Answer, HeaderList } from './http-front.ts'

/* The answers that refuse a request, in the error shape of the wire contract. */

export function jsonAnswer(status: number, body: unknown, headers?: HeaderList): Answer {
  const text = JSON.stringify(body)
  return headers === undefined ? { status, body: text } : { status, body: text, headers }
}

function refusal(statusCode: number, message: string, headers?: HeaderList): Answer {
  const body: ErrorBody = { statusCode, error: reasonPhrase(statusCode), message }
  return jsonAnswer(statusCode, body, headers)
}

function reasonPhrase(statusCode: number): string {
  return STATUS_CODES[statusCode] ?? 'Error'
}

/** What a client is told to wait before it tries again: log, projections and control plane recover in about that time. */
const retryAfter: HeaderList = [['retry-after', '1']]

export const unauthorized = refusal(401, 'Invalid or expired secret key')

export const forbidden = refusal(403, 'This key does not have the scope ingest')

export const misplaced = jsonAnswer(403, keyMismatchBody)

export const methodNotAllowed = refusal(405, 'Only POST is allowed here', [['allow', 'POST']])

export const unknownMethod = refusal(405, 'The method is not known here', [
  ['allow', 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'],
])

export const unsupportedMediaType = refusal(
  415,
  'Send a JSON body with Content-Type: application/json',
)

export const overloaded = refusal(503, 'Too many requests are in flight, try again', retryAfter)

export const internalError = refusal(500, 'Internal server error')

/* Requests whose end is not certain. The connection is closed after these. */

export const ambiguousLength = refusal(
  400,
  'Send one Content-Length header with a value, or Transfer-Encoding: chunked, and not both',
)

export const malformedLength = refusal(400, 'Content-Length must be a decimal number')

export const unknownTransferCoding = refusal(400, 'Transfer-Encoding must be exactly: chunked')

export const wrongHost = refusal(400, 'Send exactly one Host header')

export const repeatedAuthorization = refusal(
  400,
  'Send at most one Authorization header and one X-API-Key header',
)

export const unknownTarget = refusal(400, 'The request target must be a path')

export const expectationFailed = refusal(417, 'Expect may only be 100-continue')

export const lengthRequired = refusal(
  411,
  'Send the body with a Content-Length header; chunked bodies are not accepted here',
)

export function bodyTooLarge(bodyBytesMax: number): Answer {
  return refusal(413, `The body must not be larger than ${bodyBytesMax} bytes`)
}

export function badRequest(message: string): Answer {
  return refusal(400, message)
}

export function unavailable(message: string): Answer {
  return refusal(503, message, retryAfter)
}
