/**
 * What a secret key may be used for. `ingest`: recording usage and checking limits, all that a proxy or an SDK needs;
 * `read`: looking at everything; `manage`: changing it, keys included; `webhooks`: the endpoints that are told of events.
 */
export const keyScopes = ['ingest', 'read', 'manage', 'webhooks'] as const
export type KeyScope = (typeof keyScopes)[number]

export function hasAllScopes(scopes: readonly KeyScope[]): boolean {
  return keyScopes.every((scope) => scopes.includes(scope))
}
