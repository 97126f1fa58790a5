import type { Fragment } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import { keyScopes, type KeyScope } from '@tollgate/schemas/key-scopes'
import type { Environment } from '@tollgate/schemas/environment'

export type ApiKey = {
  readonly keyId: string
  readonly providerId: string
  readonly environment: Environment
  readonly name: string | null
  readonly scopes: readonly KeyScope[]
  readonly sha256: string
  readonly last4: string
  readonly createdAt: Date
  readonly expiresAt: Date | null
  readonly revokedAt: Date | null
  /** Whether requests with a field name that the operation does not know are refused. */
  readonly isStrict: boolean
}

/** A key with the state that depends on its provider. */
export type PlacedApiKey = ApiKey & {
  /** Whether the key is a live key of a provider that is not live yet. Such a key is refused. */
  readonly isMisplaced: boolean
}

type ApiKeyRow = {
  key_id: string
  provider_id: string
  environment: Environment
  name: string | null
  scopes: KeyScope[]
  sha256: string
  last4: string
  created_at: Date
  expires_at: Date | null
  revoked_at: Date | null
  is_strict: boolean
}

export async function insertApiKey(sql: Queryable, key: ApiKey): Promise<void> {
  await sql`
    insert into api_keys
      (key_id, provider_id, environment, name, scopes, sha256, last4, created_at, expires_at, revoked_at,
        is_strict)
    values (${key.keyId}, ${key.providerId}, ${key.environment}, ${key.name}, ${[...key.scopes]}, ${key.sha256},
      ${key.last4}, ${key.createdAt}, ${key.expiresAt}, ${key.revokedAt},
      ${key.isStrict})`
}

export function findApiKeys(sql: Queryable, keyIds: readonly string[]): Promise<PlacedApiKey[]> {
  return selectPlaced(sql, sql`key_id = any(${[...keyIds]}::text[])`)
}

/** Returns keys by their SHA-256, even if they are expired, revoked or misplaced. */
export async function findApiKeysBySha256(
  sql: Queryable,
  sha256s: readonly string[],
): Promise<Map<string, PlacedApiKey>> {
  const keys = await selectPlaced(sql, sql`sha256 = any(${[...sha256s]}::text[])`)
  return new Map(keys.map((key) => [key.sha256, key]))
}

async function selectPlaced(sql: Queryable, condition: Fragment): Promise<PlacedApiKey[]> {
  const rows = await sql<(ApiKeyRow & { is_misplaced: boolean })[]>`
    select api_keys.*, api_keys.environment = 'live' and not providers.is_live as is_misplaced
    from api_keys join providers using (provider_id)
    where ${condition}`
  return rows.map((row) => ({ ...fromRow(row), isMisplaced: row.is_misplaced }))
}

export async function lockApiKey(
  sql: Queryable,
  providerId: string,
  keyId: string,
): Promise<ApiKey | undefined> {
  const [row] = await sql<ApiKeyRow[]>`
    select * from api_keys where provider_id = ${providerId} and key_id = ${keyId} for update`
  return row === undefined ? undefined : fromRow(row)
}

export async function listApiKeys(sql: Queryable, providerId: string): Promise<ApiKey[]> {
  const rows = await sql<ApiKeyRow[]>`
    select * from api_keys where provider_id = ${providerId} order by created_at, key_id`
  return rows.map(fromRow)
}

export async function setApiKeyExpiry(
  sql: Queryable,
  keyId: string,
  expiresAt: Date,
): Promise<void> {
  await sql`update api_keys set expires_at = ${expiresAt} where key_id = ${keyId}`
}

export async function setApiKeyRevoked(
  sql: Queryable,
  keyId: string,
  revokedAt: Date,
): Promise<void> {
  await sql`update api_keys set revoked_at = ${revokedAt} where key_id = ${keyId}`
}

function fromRow(row: ApiKeyRow): ApiKey {
  return {
    keyId: row.key_id,
    providerId: row.provider_id,
    environment: row.environment,
    name: row.name,
    scopes: keyScopes.filter((scope) => row.scopes.includes(scope)),
    sha256: row.sha256,
    last4: row.last4,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    isStrict: row.is_strict,
  }
}
