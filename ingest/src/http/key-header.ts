/**
 * Returns the credential of a request as an Authorization header. X-API-Key counts only without an Authorization header, because
 * the standard header has precedence.
 */
export function authorizationOf(authorization: string, apiKey: string): string {
  return authorization === '' && apiKey !== '' ? `Bearer ${apiKey}` : authorization
}
