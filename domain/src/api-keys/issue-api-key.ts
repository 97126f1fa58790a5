import { randomBytes } from 'node:crypto'
import type { TransactionSql } from 'postgres'
import type { Database } from '@tollgate/platform/database/database'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { keyScopes, type KeyScope } from '@tollgate/schemas/key-scopes'
import type { Environment } from '@tollgate/schemas/environment'
import { insertPublication, type PublicationTarget } from '../publications/repository.ts'
import { drawReference } from '../unit-of-work/draw-reference.ts'
import { publishApiKeys } from './publish-api-keys.ts'
import { insertApiKey, type ApiKey } from './repository.ts'
import { generateSecretKey, sha256OfSecretKey } from './secret-key.ts'

export type NewApiKey = {
  readonly providerId: string
  readonly environment: Environment
  readonly name: string | null
  /** Default: all. */
  readonly scopes?: readonly KeyScope[]
  readonly expiresAt: Date | null
}

export type IssuedApiKey = {
  readonly key: ApiKey
  /** Known only now. */
  readonly secretKey: string
}

/** The key opens both planes once this resolves. */
export async function issueApiKey(
  database: Database,
  hotState: HotState,
  fields: NewApiKey,
  now: Date,
): Promise<IssuedApiKey> {
  const issued = await database.control.begin((sql) => addApiKey(sql, fields, now))
  await publishApiKeys(database.control, hotState, [apiKeyTarget(issued.key)], 'pending')
  return issued
}

export async function addApiKey(
  sql: TransactionSql,
  fields: NewApiKey,
  now: Date,
): Promise<IssuedApiKey> {
  const secretKey = generateSecretKey(fields.environment, randomBytes)
  const key: ApiKey = {
    scopes: keyScopes,
    ...fields,
    keyId: drawReference('apiKey'),
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
