import type { Database } from '@tollgate/platform/database/database'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { insertPublication } from '../publications/repository.ts'
import { addApiKey, apiKeyTarget, type IssuedApiKey } from './issue-api-key.ts'
import { publishApiKeys } from './publish-api-keys.ts'
import { lockApiKey, setApiKeyExpiry, setApiKeyRevoked, type ApiKey } from './repository.ts'

export type RotateOutcome =
  | { readonly kind: 'rotated'; readonly successor: IssuedApiKey; readonly oldExpiresAt: Date }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'already-revoked' }

/** A successor for the key, which itself goes on working for the overlap, but never longer than it would have. */
export async function rotateApiKey(
  database: Database,
  hotState: HotState,
  keyId: string,
  overlapMs: number,
  now: Date,
): Promise<RotateOutcome> {
  const outcome = await database.control.begin(async (sql): Promise<RotateOutcome> => {
    const old = await lockApiKey(sql, keyId)
    if (old === undefined) return { kind: 'not-found' }
    if (old.revokedAt !== null) return { kind: 'already-revoked' }
    const { providerId, environment, name, scopes } = old
    const fields = { providerId, environment, name, scopes, expiresAt: null }
    const successor = await addApiKey(sql, fields, now)
    const overlapEndMs = now.getTime() + overlapMs
    const oldExpiresAt = new Date(Math.min(overlapEndMs, old.expiresAt?.getTime() ?? Infinity))
    await setApiKeyExpiry(sql, keyId, oldExpiresAt)
    await insertPublication(sql, apiKeyTarget(old))
    return { kind: 'rotated', successor, oldExpiresAt }
  })
  if (outcome.kind === 'rotated') {
    const { key } = outcome.successor
    // The successor first: a caller that switches early must not be refused.
    await publishApiKeys(database.control, hotState, [apiKeyTarget(key)], 'pending')
    await publishApiKeys(
      database.control,
      hotState,
      [{ ...apiKeyTarget(key), target: keyId }],
      'pending',
    )
  }
  return outcome
}

export type RevokeOutcome =
  { readonly kind: 'revoked'; readonly key: ApiKey } | { readonly kind: 'not-found' }

/** Once this resolves the key opens nothing any more, apart from what the data plane's nodes remember for a second. */
export async function revokeApiKey(
  database: Database,
  hotState: HotState,
  keyId: string,
  now: Date,
): Promise<RevokeOutcome> {
  const outcome = await database.control.begin(async (sql): Promise<RevokeOutcome> => {
    const key = await lockApiKey(sql, keyId)
    if (key === undefined) return { kind: 'not-found' }
    const revokedAt = key.revokedAt ?? now
    await setApiKeyRevoked(sql, keyId, revokedAt)
    await insertPublication(sql, apiKeyTarget(key))
    return { kind: 'revoked', key: { ...key, revokedAt } }
  })
  if (outcome.kind === 'revoked') {
    await publishApiKeys(database.control, hotState, [apiKeyTarget(outcome.key)], 'pending')
  }
  return outcome
}
