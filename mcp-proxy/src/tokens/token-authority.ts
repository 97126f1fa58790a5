import { listRevokedTokens } from '@tollgate/domain/customer-auth/revoked-tokens'
import { listPublicTokenKeys } from '@tollgate/domain/customer-auth/token-keys'
import type { Database } from '@tollgate/platform/database/database'
import { importJWK, type CryptoKey, type JWK } from 'jose'
import { FreshCache, type FreshCacheOptions } from '../servers/fresh-cache.ts'

/** The keys and revoked tokens of one environment, used to verify access tokens. */
export type TokenAuthority = {
  /** Public keys by provider and `kid`. */
  readonly keys: ReadonlyMap<string, CryptoKey>
  readonly revoked: ReadonlySet<string>
}

export function keyName(providerId: string, kid: string): string {
  return `${providerId} ${kid}`
}

/** Returns a cache of the keys and revoked tokens per environment. An entry contains those of all providers. */
export function tokenAuthorities(
  database: Pick<Database, 'in'>,
  options: FreshCacheOptions,
): FreshCache<TokenAuthority> {
  // Each key is imported once, and the imported object is reused.
  const imported = new Map<string, CryptoKey>()
  return new FreshCache(options, async (environment: string) => {
    const sql = database.in(environment)
    const [keys, revoked] = await Promise.all([
      listPublicTokenKeys(sql),
      listRevokedTokens(sql, new Date(options.clock.now())),
    ])
    const named = await Promise.all(
      keys.map(async ({ providerId, kid, publicJwk }) => {
        const name = keyName(providerId, kid)
        const key =
          imported.get(name) ?? ((await importJWK(publicJwk as JWK, 'ES256')) as CryptoKey)
        imported.set(name, key)
        return [name, key] as const
      }),
    )
    return { keys: new Map(named), revoked: new Set(revoked) }
  })
}
