import { randomBytes } from 'node:crypto'
import type { TransactionSql } from 'postgres'
import type { Database } from '@tollgate/platform/database/database'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { keyScopes, type KeyScope } from '@tollgate/schemas/key-scopes'
import type { Environment } from '@tollgate/schemas/environment'
import { setActor, type Actor } from '../audit/actor.ts'
import { insertPublication, type PublicationTarget } from '../publications/repository.ts'
import { generateReference } from '../unit-of-work/generate-reference.ts'
import { publishApiKeys } from './publish-api-keys.ts'
import { insertApiKey, type ApiKey } from '../api-keys/repository.ts'
import { generateSecretKey, sha256OfSecretKey } from '../api-keys/secret-key.ts'

export type NewApiKey = {
  readonly providerId: string
  readonly environment: Environment
  readonly name: string | null
  /** Scopes of the key. Default: all. */
  readonly scopes?: readonly KeyScope[]
  readonly expiresAt: Date | null
  /** Whether the key is strict. Default: false. */
  readonly isStrict?: boolean
}

export type IssuedApiKey = {
  readonly key: ApiKey
  /** The secret text, which is known only now. */
  readonly secretKey: string
}

/** Called with the error if a key could not be published. The key is valid anyway, and is published once hot state is back. */
export type OnUnpublished = (error: unknown) => void

/**
 * Issues an API key. When this resolves, both planes accept the key. If `onUnpublished` was called, the data plane accepts it
 * later.
 */
export async function issueApiKey(
  database: Database,
  hotState: HotState,
  actor: Actor,
  fields: NewApiKey,
  now: Date,
  onUnpublished?: OnUnpublished,
): Promise<IssuedApiKey> {
  const rows = database.of(fields.providerId).control
  const issued = await rows.write((sql) => {
    setActor(sql, actor)
    return addApiKey(sql, fields, now)
  })
  await publishKeys(database, hotState, [apiKeyTarget(issued.key)], onUnpublished)
  return issued
}

/** Publishes the keys one after the other, in this order. */
export async function publishKeys(
  database: Database,
  hotState: HotState,
  targets: readonly PublicationTarget[],
  onUnpublished: OnUnpublished | undefined,
): Promise<void> {
  try {
    for (const target of targets) {
      await publishApiKeys(database.control, hotState, [target], 'pending')
    }
  } catch (error) {
    // The secret of a new key is known only now. A caller that can continue without the data plane passes `onUnpublished` to keep
    // it.
    if (onUnpublished === undefined) throw error
    onUnpublished(error)
  }
}

export async function addApiKey(
  sql: TransactionSql,
  fields: NewApiKey,
  now: Date,
): Promise<IssuedApiKey> {
  const secretKey = generateSecretKey(fields.environment, randomBytes)
  const key: ApiKey = {
    scopes: keyScopes,
    isStrict: false,
    ...fields,
    keyId: generateReference('apiKey'),
    sha256: sha256OfSecretKey(secretKey),
    last4: secretKey.slice(-4),
    createdAt: now,
    revokedAt: null,
  }
  await insertApiKey(sql, key)
  await insertPublication(sql, apiKeyTarget(key))
  return { key, secretKey }
}

export function apiKeyTarget(key: ApiKey): PublicationTarget {
  return { kind: 'api-key', providerId: key.providerId, target: key.keyId }
}
