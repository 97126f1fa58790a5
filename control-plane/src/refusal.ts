import { STATUS_CODES } from 'node:http'
import { errorCodes, type ErrorCode } from '@tollgate/schemas/http/error-codes'

/** The body of a refusal, without the status and the id of the request. */
type RefusalBody = Readonly<Record<string, unknown>> & { readonly code: ErrorCode }

/** A refusal of a request. The response is exactly this body and the id of the request. */
export class RefusalError extends Error {
  override readonly name = 'RefusalError'
  readonly statusCode: number
  readonly body: RefusalBody
  readonly headers: Readonly<Record<string, string | number>>

  constructor(
    statusCode: number,
    body: RefusalBody,
    headers: Readonly<Record<string, string | number>> = {},
  ) {
    super(JSON.stringify(body))
    this.statusCode = statusCode
    this.body = { statusCode, ...body }
    this.headers = headers
  }
}

export function refusal(
  code: ErrorCode,
  message: string,
  headers?: Readonly<Record<string, string | number>>,
): RefusalError {
  const [statusCode] = errorCodes[code].statuses as readonly [number]
  return new RefusalError(statusCode, { error: phraseOf(statusCode), message, code }, headers)
}

export function phraseOf(statusCode: number): string {
  return STATUS_CODES[statusCode] ?? 'Error'
}

export function temporaryRefusal(code: ErrorCode, message: string): RefusalError {
  return refusal(code, message, { 'retry-after': 1 })
}

export function refusalWithWait(code: ErrorCode, message: string, waitMs: number): RefusalError {
  return refusal(code, message, { 'retry-after': Math.max(1, Math.ceil(waitMs / 1_000)) })
}
