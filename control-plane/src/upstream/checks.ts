import { createHmac } from 'node:crypto'
import type { UpstreamChecks } from './upstream.ts'

/** Derives the secrets of a sign-in from the browser's cookie, so that they are not stored. */
export function checksOf(browserToken: string, state: string): UpstreamChecks {
  const derive = (purpose: string): string =>
    createHmac('sha256', browserToken).update(`${purpose} ${state}`).digest('base64url')
  return { state, nonce: derive('nonce'), verifier: derive('verifier') }
}

/** Returns the message of a failed sign-in for the log. Other properties of an error may contain tokens. */
export function reasonOf(error: unknown): string {
  const { message, cause } = error as { readonly message?: string; readonly cause?: unknown }
  return cause instanceof Error ? `${String(message)}: ${cause.message}` : String(message)
}
