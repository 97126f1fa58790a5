import type { Queryable } from '@tollgate/platform/database/database'
import { listReferences } from '../customers/repository.ts'
import { endCustomerSignIns } from './end-customer-sign-ins.ts'
import { grantDigestOf } from './oauth-records.ts'
import { revokeTokensWhere } from './revoked-tokens.ts'
import { listLinkedAddresses } from './upstream-identities.ts'

/** An access token that was issued. The token itself is not stored. */
export type IssuedToken = {
  readonly jti: string
  readonly issuer: string
  /** Undefined for tokens of clients that act without a person. */
  readonly grantId: string | undefined
  readonly customerRef: string
  readonly expiresAt: Date
}

export async function recordIssuedToken(
  sql: Queryable,
  providerId: string,
  { jti, issuer, grantId, customerRef, expiresAt }: IssuedToken,
): Promise<void> {
  const grantSha256 = grantId === undefined ? null : grantDigestOf(issuer, grantId)
  await sql`
    insert into oauth_access_tokens
      (provider_id, jti, issuer, grant_sha256, customer_ref, expires_at)
    values (${providerId}, ${jti}, ${issuer}, ${grantSha256}, ${customerRef}, ${expiresAt})`
}

/** Returns whether the token may be used: this issuer issued it, and it is neither expired nor revoked. */
export async function isTokenActive(
  sql: Queryable,
  { jti, issuer }: Pick<IssuedToken, 'jti' | 'issuer'>,
  now: Date,
): Promise<boolean> {
  const rows = await sql`
    select from oauth_access_tokens token
    where jti = ${jti} and issuer = ${issuer} and expires_at > ${now}
      and not exists (select from oauth_revoked_tokens revoked where revoked.jti = token.jti)`
  return rows.length > 0
}

/**
 * Ends a grant: its codes and refresh tokens are deleted, and its access tokens are refused from now on. Call this in a
 * transaction.
 */
export async function revokeGrant(
  sql: Queryable,
  providerId: string,
  { issuer, grantId }: { readonly issuer: string; readonly grantId: string },
  now: Date,
): Promise<void> {
  await endGrant(sql, providerId, grantDigestOf(issuer, grantId), now)
}

/**
 * Revokes the token and ends its grant, including the grant's codes, refresh tokens and other access tokens. Call this
 * in a transaction.
 */
export async function revokeGrantOfToken(
  sql: Queryable,
  providerId: string,
  jti: string,
  now: Date,
): Promise<void> {
  const [token] = await sql<{ grant_sha256: string | null }[]>`
    insert into oauth_revoked_tokens (provider_id, jti, revoked_at, expires_at)
    select provider_id, jti, ${now}, expires_at from oauth_access_tokens
    where provider_id = ${providerId} and jti = ${jti} and expires_at > ${now}
    on conflict (jti) do update set jti = excluded.jti
    returning (select grant_sha256 from oauth_access_tokens issued
      where issued.jti = oauth_revoked_tokens.jti)`
  const grant = token?.grant_sha256
  if (typeof grant === 'string') await endGrant(sql, providerId, grant, now)
}

/**
 * The locks wait for a refresh in progress, which has locked the token that it replaces. After the refresh commits, the
 * following statements see the tokens that it stored.
 */
async function endGrant(
  sql: Queryable,
  providerId: string,
  grant: string,
  now: Date,
): Promise<void> {
  await sql`
    select from oauth_records where provider_id = ${providerId} and grant_sha256 = ${grant}
    order by record_sha256 for update`
  await revokeTokensWhere(sql, providerId, sql`grant_sha256 = ${grant}`, now)
  await sql`
    delete from oauth_records where provider_id = ${providerId} and grant_sha256 = ${grant}`
}

/**
 * Ends everything that was issued for the MCP server of a product, including its clients. Called when the product is
 * deleted.
 */
export async function revokeProductTokens(
  sql: Queryable,
  providerId: string,
  productRef: string,
  now: Date,
): Promise<void> {
  await sql`
    select from oauth_records where provider_id = ${providerId} and product_ref = ${productRef}
    order by record_sha256 for update`
  const isOfProduct = sql`grant_sha256 in (
    select grant_sha256 from oauth_records
    where provider_id = ${providerId} and product_ref = ${productRef})`
  await revokeTokensWhere(sql, providerId, isOfProduct, now)
  await sql`
    delete from oauth_records where provider_id = ${providerId} and product_ref = ${productRef}`
}

/**
 * Ends everything that lets clients act for the customer, and deletes all stored addresses of the customer. Called when
 * the customer is deleted; the caller has locked the customer's row.
 */
export async function revokeCustomerTokens(
  sql: Queryable,
  providerId: string,
  customer: { readonly reference: string; readonly email: string },
  now: Date,
): Promise<void> {
  const { reference, email } = customer
  const references = await listReferences(sql, providerId, reference)
  const linked = await listLinkedAddresses(sql, providerId, reference)
  const addresses = [email, ...references, ...linked].map((each) => each.toLowerCase())
  await endCustomerSignIns(sql, providerId, { reference, addresses }, now)
  await revokeTokensWhere(sql, providerId, sql`customer_ref = ${reference}`, now)
  await sql`
    delete from oauth_records where provider_id = ${providerId} and customer_ref = ${reference}`
  await sql`
    delete from customer_links where provider_id = ${providerId} and customer_ref = ${reference}`
}
