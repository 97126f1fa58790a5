/**
 * Returns the credential of a request as an Authorization header. X-API-Key counts where there is no Authorization header:
 * of two credentials the one of the standard header is meant.
 */
export function authorizationOf(authorization: string, apiKey: string): string {
  return authorization === '' && apiKey !== '' ? `Bearer ${apiKey}` : authorization
}
