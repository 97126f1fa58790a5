import type { Database } from '@tollgate/platform/database/database'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { setActor, type Actor } from '../audit/actor.ts'
import { insertPublication } from '../publications/repository.ts'
import {
  addApiKey,
  apiKeyTarget,
  publishKeys,
  type IssuedApiKey,
  type OnUnpublished,
} from './issue-api-key.ts'
import { earlierExpiry } from '../api-keys/earlier-expiry.ts'
import {
  lockApiKey,
  setApiKeyExpiry,
  setApiKeyRevoked,
  type ApiKey,
} from '../api-keys/repository.ts'

/** Name of a key. A key of another provider is not found. */
export type ApiKeyName = Pick<ApiKey, 'providerId' | 'keyId'>

export type RotateOutcome =
  | { readonly kind: 'rotated'; readonly successor: IssuedApiKey; readonly oldExpiresAt: Date }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'already-revoked' }
  | { readonly kind: 'expired' }

export type Rotation = {
  /** How long the rotated key stays valid next to its successor, in milliseconds. */
  readonly overlapMs: number
  /** Expiry of the calling key. The successor expires at that time at the latest. Null if the calling key does not expire. */
  readonly latestExpiry: Date | null
}

/**
 * Creates a successor for the key. The old key stays valid until the overlap ends or until its own expiry, whichever is earlier.
 * The successor expires with the key that it replaces or with the calling key, whichever is earlier.
 */
export async function rotateApiKey(
  database: Database,
  hotState: HotState,
  actor: Actor,
  { providerId, keyId }: ApiKeyName,
  { overlapMs, latestExpiry }: Rotation,
  now: Date,
  onUnpublished?: OnUnpublished,
): Promise<RotateOutcome> {
  const rows = database.of(providerId).control
  const outcome = await rows.write(async (sql): Promise<RotateOutcome> => {
    setActor(sql, actor)
    const old = await lockApiKey(sql, providerId, keyId)
    if (old === undefined) return { kind: 'not-found' }
    if (old.revokedAt !== null) return { kind: 'already-revoked' }
    if (old.expiresAt !== null && old.expiresAt <= now) return { kind: 'expired' }
    const { environment, name, scopes, isStrict } = old
    const expiresAt = earlierExpiry(old.expiresAt, latestExpiry)
    const fields = { providerId, environment, name, scopes, expiresAt, isStrict }
    const successor = await addApiKey(sql, fields, now)
    const overlapEndMs = now.getTime() + overlapMs
    const oldExpiresAt = new Date(Math.min(overlapEndMs, old.expiresAt?.getTime() ?? Infinity))
    await setApiKeyExpiry(sql, keyId, oldExpiresAt)
    await insertPublication(sql, apiKeyTarget(old))
    return { kind: 'rotated', successor, oldExpiresAt }
  })
  if (outcome.kind === 'rotated') {
    const { key } = outcome.successor
    // The successor is published first, because a caller that switches early must not be refused.
    const targets = [apiKeyTarget(key), { ...apiKeyTarget(key), target: keyId }]
    await publishKeys(database, hotState, targets, onUnpublished)
  }
  return outcome
}

export type RevokeOutcome =
  { readonly kind: 'revoked'; readonly key: ApiKey } | { readonly kind: 'not-found' }

/** Revokes a key. When this resolves, the key is refused, except that nodes of the data plane cache keys for 1 second. */
export async function revokeApiKey(
  database: Database,
  hotState: HotState,
  actor: Actor,
  { providerId, keyId }: ApiKeyName,
  now: Date,
  onUnpublished?: OnUnpublished,
): Promise<RevokeOutcome> {
  const rows = database.of(providerId).control
  const outcome = await rows.write(async (sql): Promise<RevokeOutcome> => {
    setActor(sql, actor)
    const key = await lockApiKey(sql, providerId, keyId)
    if (key === undefined) return { kind: 'not-found' }
    const revokedAt = key.revokedAt ?? now
    await setApiKeyRevoked(sql, keyId, revokedAt)
    await insertPublication(sql, apiKeyTarget(key))
    return { kind: 'revoked', key: { ...key, revokedAt } }
  })
  if (outcome.kind === 'revoked') {
    await publishKeys(database, hotState, [apiKeyTarget(outcome.key)], onUnpublished)
  }
  return outcome
}
