import { createHash, generateKeyPair } from 'node:crypto'
import { promisify } from 'node:util'
import type { Queryable } from '@tollgate/platform/database/database'
import type { Secrets } from '@tollgate/platform/secrets/open-secrets'
import type { JsonObject } from '@tollgate/schemas/json-object'
import { jsonb } from '../postgres/jsonb.ts'

/** The public part of a key that signs access tokens of customers: ES256, as a JWK with `kid`, `alg` and `use`. */
export type PublicTokenKey = {
  readonly providerId: string
  readonly kid: string
  readonly publicJwk: JsonObject
}

export type TokenKey = PublicTokenKey & {
  /** Private JWK, sealed for `tokenKeyPlace`. */
  readonly sealedPrivateJwk: string
  readonly activeFrom: Date
}

/** Returns the storage place of private keys. The seal of a key is bound to it. */
export function tokenKeyPlace(providerId: string) {
  return { table: 'oauth_signing_keys', column: 'private_jwk', owner: providerId } as const
}

type TokenKeyRow = {
  provider_id: string
  kid: string
  public_jwk: JsonObject
  private_jwk: string
  active_from: Date
}

/** Returns the keys of every provider whose rows `sql` sees. Services that check tokens look up a key by its `kid`. */
export async function listPublicTokenKeys(sql: Queryable): Promise<PublicTokenKey[]> {
  const rows = await sql<TokenKeyRow[]>`
    select provider_id, kid, public_jwk from oauth_signing_keys order by active_from desc, kid`
  return rows.map((row) => ({
    providerId: row.provider_id,
    kid: row.kid,
    publicJwk: row.public_jwk,
  }))
}

/** Returns the keys of one provider, newest first. */
export async function listTokenKeys(sql: Queryable, providerId: string): Promise<TokenKey[]> {
  const rows = await sql<TokenKeyRow[]>`
    select * from oauth_signing_keys where provider_id = ${providerId}
    order by active_from desc, kid`
  return rows.map((row) => ({
    providerId: row.provider_id,
    kid: row.kid,
    publicJwk: row.public_jwk,
    sealedPrivateJwk: row.private_jwk,
    activeFrom: row.active_from,
  }))
}

const generateKeyPairAsync = promisify(generateKeyPair)

export async function generateTokenKey(
  secrets: Pick<Secrets, 'seal'>,
  providerId: string,
  activeFrom: Date,
): Promise<TokenKey> {
  const { publicKey, privateKey } = await generateKeyPairAsync('ec', { namedCurve: 'P-256' })
  const { kty, crv, x, y } = publicKey.export({ format: 'jwk' }) as Record<string, string>
  const thumbprint = JSON.stringify({ crv, kty, x, y })
  const kid = createHash('sha256').update(thumbprint).digest('base64url')
  const common = { kid, alg: 'ES256', use: 'sig' }
  const privateJwk = JSON.stringify({ ...privateKey.export({ format: 'jwk' }), ...common })
  return {
    providerId,
    kid,
    publicJwk: { kty: kty!, crv: crv!, x: x!, y: y!, ...common },
    sealedPrivateJwk: secrets.seal(privateJwk, tokenKeyPlace(providerId)),
    activeFrom,
  }
}

/**
 * Stores the key, unless the provider already has a key that becomes active at `unlessActiveSince` or later. Returns
 * whether it was stored. If two processes add a key at once, one key is added: the second process waits for the
 * transaction of the first. Call this in a transaction.
 */
export async function addTokenKey(
  sql: Queryable,
  key: TokenKey,
  { unlessActiveSince, now }: { readonly unlessActiveSince: Date; readonly now: Date },
): Promise<boolean> {
  const { providerId } = key
  await sql`select pg_advisory_xact_lock(hashtextextended(${`token-keys ${providerId}`}, 0))`
  const rows = await sql`
    insert into oauth_signing_keys
      (provider_id, kid, public_jwk, private_jwk, active_from, created_at)
    select ${providerId}, ${key.kid}, ${jsonb(sql, key.publicJwk)}, ${key.sealedPrivateJwk},
      ${key.activeFrom}, ${now}
    where not exists (
      select from oauth_signing_keys
      where provider_id = ${providerId} and active_from >= ${unlessActiveSince})
    returning 1`
  return rows.length === 1
}

/**
 * Deletes keys that have not signed anything since `before`, because a newer key became active before then. Returns how
 * many were deleted.
 */
export async function deleteReplacedTokenKeys(sql: Queryable, before: Date): Promise<number> {
  const rows = await sql`
    delete from oauth_signing_keys old where exists (
      select from oauth_signing_keys newer where newer.provider_id = old.provider_id
        and newer.active_from > old.active_from and newer.active_from <= ${before})`
  return rows.count
}
