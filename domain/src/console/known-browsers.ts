import type { Queryable } from '@tollgate/platform/database/database'
import { generateToken, sha256OfToken } from './tokens.ts'

/**
 * Largest number of known browsers per account. The oldest are deleted. A client without cookies gets a new one at each
 * sign-in.
 */
const browsersPerAccountMax = 20

/**
 * The account of a sign-in. Without `providerId`: the accounts of all providers that have a user with the email
 * address.
 */
export type SignInAccount = { readonly email: string; readonly providerId: string | undefined }

/**
 * Returns the id of the browser if the account was signed in to from it before, otherwise undefined. Any provider can
 * make any email address its user and sign in as that user. So a browser that is known for one provider's user is not
 * known for users of other providers. It is not known either for an attempt that names no provider and so could reach
 * users of other providers.
 */
export async function findKnownBrowser(
  sql: Queryable,
  { email, providerId }: SignInAccount,
  token: string | undefined,
  now: Date,
): Promise<string | undefined> {
  if (token === undefined) return undefined
  const [row] = await sql<{ sha256: string }[]>`
    select sha256 from known_browsers as known
    where sha256 = ${sha256OfToken(token)} and email = lower(${email}) and expires_at > ${now}
      and coalesce(known.provider_id = ${providerId ?? null}, not exists (
        select from console_users
        where email_key = known.email and console_users.provider_id <> known.provider_id))`
  return row?.sha256
}

/**
 * Stores the browser as known and returns the token for its cookie. A crash before the response leaves a row whose
 * token no browser has.
 */
export async function rememberBrowser(
  sql: Queryable,
  { email, providerId }: { readonly email: string; readonly providerId: string },
  now: Date,
  expiresAt: Date,
): Promise<string> {
  const token = generateToken()
  await sql`
    insert into known_browsers (sha256, provider_id, email, created_at, expires_at)
    values (${sha256OfToken(token)}, ${providerId}, lower(${email}), ${now}, ${expiresAt})`
  await sql`
    delete from known_browsers where sha256 in (
      select sha256 from known_browsers
      where provider_id = ${providerId} and email = lower(${email})
      order by created_at desc offset ${browsersPerAccountMax})`
  return token
}

export async function sweepKnownBrowsers(
  sql: Queryable,
  now: Date,
  rowsMax: number,
): Promise<number> {
  const rows = await sql`
    delete from known_browsers where sha256 in (
      select sha256 from known_browsers where expires_at <= ${now}
      order by expires_at limit ${rowsMax})`
  return rows.count
}
