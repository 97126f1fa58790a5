import type { AuthResponse } from './run-provider.ts'

/** Headers that forbid caches to store responses with tokens or personal data. */
const noStoreHeaders = {
  'cache-control': 'no-store',
  pragma: 'no-cache',
  'content-type': 'application/json; charset=utf-8',
}

export function jsonResponse(
  status: number,
  body: object,
  headers: AuthResponse['headers'] = {},
): AuthResponse {
  return { status, headers: { ...noStoreHeaders, ...headers }, body: JSON.stringify(body) }
}

/**
 * Returns an error in the shape of OAuth. The description may quote text from the client, and RFC 6749 allows only a part of ASCII
 * in it.
 */
export function errorResponse(
  status: number,
  error: string,
  description: string,
  headers: AuthResponse['headers'] = {},
): AuthResponse {
  return jsonResponse(status, { error, error_description: asciiOf(description) }, headers)
}

function asciiOf(text: string): string {
  const quoted = text.replaceAll(/["\\]/g, "'")
  return quoted.replaceAll(/[^\x20-\x7e]/gu, (character) => encodeURIComponent(character))
}

export function serverNotFound(): AuthResponse {
  return errorResponse(404, 'invalid_request', 'There is no authorization server at this address.')
}

export function tooManyRequests(waitMs: number): AuthResponse {
  const seconds = String(Math.max(1, Math.ceil(waitMs / 1_000)))
  return errorResponse(429, 'temporarily_unavailable', `Try again in ${seconds} seconds.`, {
    'retry-after': seconds,
  })
}
