/* Messages that the data plane and the management API share. */

/** Clients search errors for this text, so the other messages about keys start with it. */
const invalidKey = 'Invalid or expired secret key'

export const keyMessages = {
  missing_key: `${invalidKey}: the request has none. Send the header "Authorization: Bearer <secret key>"`,
  malformed_key: `${invalidKey}: the credential does not have the form of one. Copy the whole key, which begins with sk_sandbox_ or sk_live_`,
  invalid_key: invalidKey,
} as const

export type KeyFault = keyof typeof keyMessages

export const bodyMessages = {
  empty_body: 'The body is empty, expected a JSON object',
  invalid_utf8: 'The body is not valid UTF-8',
  invalid_json: 'The body is not valid JSON',
} as const

export type BodyFault = keyof typeof bodyMessages

export const unsupportedMediaTypeMessage = 'Send a JSON body with Content-Type: application/json'

export function bodyTooLargeMessage(bodyBytesMax: number): string {
  return `The body must not be larger than ${bodyBytesMax} bytes`
}

export function missingScopeMessage(scope: string): string {
  return `This key does not have the scope ${scope}`
}

export function idempotencyKeyMessage(charsMax: number): string {
  return `Idempotency-Key must be 1 to ${charsMax} printable ASCII characters`
}

/** Returns the message of a 405 response. `allowed` are the methods in its Allow header. */
export function methodMessage(allowed: readonly string[]): string {
  const verb = allowed.length === 1 ? 'is' : 'are'
  return `Only ${allowed.join(', ')} ${verb} allowed here`
}
