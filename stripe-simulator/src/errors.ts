/** The member `error` of an answer, in Stripe's format. */
export type ErrorBody = {
  readonly type: 'invalid_request_error' | 'card_error' | 'idempotency_error' | 'api_error'
  readonly message: string
  readonly code?: string
  readonly decline_code?: string
  readonly advice_code?: string
  readonly param?: string
  readonly charge?: string
  readonly payment_intent?: object
  readonly setup_intent?: object
  readonly payment_method?: object
}

/** An error answer. The request has changed nothing. */
export class StripeApiError extends Error {
  override readonly name = 'StripeApiError'
  readonly status: number
  readonly body: ErrorBody
  /** Whether the idempotency key remembers the answer. Stripe remembers it if it had begun to process the request. */
  readonly isReplayable: boolean

  constructor(status: number, body: ErrorBody, isRemembered = true) {
    super(body.message)
    this.status = status
    this.body = body
    this.isReplayable = isRemembered
  }
}

export function invalid(message: string, more: Partial<ErrorBody> = {}): StripeApiError {
  return new StripeApiError(400, { type: 'invalid_request_error', message, ...more })
}

/** Returns an error in the request itself, found before processing begins. */
export function invalidParameter(message: string, more: Partial<ErrorBody>): StripeApiError {
  return new StripeApiError(400, { type: 'invalid_request_error', message, ...more }, false)
}

export function missing(kind: string, id: string, param = 'id'): StripeApiError {
  const message = `No such ${kind}: '${id}'`
  const status = param === 'id' ? 404 : 400
  return new StripeApiError(status, {
    type: 'invalid_request_error',
    code: 'resource_missing',
    message,
    param,
  })
}

export function unauthorized(message: string): StripeApiError {
  return new StripeApiError(401, { type: 'invalid_request_error', message }, false)
}
