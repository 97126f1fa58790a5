/**
 * Scopes of a secret key. `ingest`: record usage and check limits, which is all that a proxy or an SDK needs. `read`: read
 * everything. `manage`: change everything, including keys. `webhooks`: manage webhook endpoints.
 */
export const keyScopes = ['ingest', 'read', 'manage', 'webhooks'] as const
export type KeyScope = (typeof keyScopes)[number]

export function hasAllScopes(scopes: readonly KeyScope[]): boolean {
  return keyScopes.every((scope) => scopes.includes(scope))
}
