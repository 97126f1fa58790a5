import type { Fragment } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'

/** Returns the ids of all revoked and unexpired access tokens, of every provider whose rows `sql` sees. */
export async function listRevokedTokens(sql: Queryable, now: Date): Promise<string[]> {
  const rows = await sql<{ jti: string }[]>`
    select jti from oauth_revoked_tokens where expires_at > ${now}`
  return rows.map(({ jti }) => jti)
}

type RevokedToken = { readonly jti: string; readonly expiresAt: Date }

export async function revokeToken(
  sql: Queryable,
  providerId: string,
  { jti, expiresAt }: RevokedToken,
  now: Date,
): Promise<void> {
  await sql`
    insert into oauth_revoked_tokens (provider_id, jti, revoked_at, expires_at)
    values (${providerId}, ${jti}, ${now}, ${expiresAt})
    on conflict (jti) do nothing`
}

/** Revokes the unexpired access tokens of the provider that match the condition. */
export async function revokeTokensWhere(
  sql: Queryable,
  providerId: string,
  condition: Fragment,
  now: Date,
): Promise<void> {
  await sql`
    insert into oauth_revoked_tokens (provider_id, jti, revoked_at, expires_at)
    select provider_id, jti, ${now}, expires_at from oauth_access_tokens
    where provider_id = ${providerId} and expires_at > ${now} and ${condition}
    on conflict (jti) do nothing`
}
