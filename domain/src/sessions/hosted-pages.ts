import { createHash, randomBytes } from 'node:crypto'

/** How long a hosted page can be opened after its link was issued. */
export const sessionMs = 15 * 60_000

/** Returns 32 hex characters. The id gives access to the page, so it must not be guessable. */
export function generateSessionId(): string {
  return randomBytes(16).toString('hex')
}

/** Returns the token for the cookie of an opened page. */
export function generateCookieToken(): string {
  return randomBytes(32).toString('base64url')
}

export function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** Returns the address of the portal. `hostedUrl` has no trailing slash. */
export function customerPageUrl(hostedUrl: string, sessionId: string): string {
  return `${hostedUrl}/customer/manage?id=${sessionId}`
}

export function checkoutPageUrl(hostedUrl: string, sessionId: string): string {
  return `${hostedUrl}/customer/checkout?id=${sessionId}`
}
