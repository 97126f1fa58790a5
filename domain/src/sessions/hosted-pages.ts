import { createHash, randomBytes } from 'node:crypto'

/** How long a hosted page can be opened after it was asked for. */
export const sessionMs = 15 * 60_000

/** 32 hex characters: who has it is let in, so it cannot be guessed. */
export function drawSessionId(): string {
  return randomBytes(16).toString('hex')
}

/** What the cookie of an opened page holds. */
export function drawCookieToken(): string {
  return randomBytes(32).toString('base64url')
}

export function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** `hostedUrl` without a slash at its end. */
export function customerPageUrl(hostedUrl: string, sessionId: string): string {
  return `${hostedUrl}/customer/manage?id=${sessionId}`
}

export function checkoutPageUrl(hostedUrl: string, sessionId: string): string {
  return `${hostedUrl}/customer/checkout?id=${sessionId}`
}
