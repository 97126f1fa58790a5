import type { Queryable } from '@tollgate/platform/database/database'
import { drawToken, sha256OfToken } from './tokens.ts'

/** A client that keeps no cookies gets a new one with each sign-in; the oldest of an account are forgotten. */
const browsersPerAccountMax = 20

/** The account that is signed in to. Without a provider: those of all providers that the address is a user of. */
export type BrowsedAccount = { readonly email: string; readonly providerId: string | undefined }

/**
 * Returns what names the browser if somebody signed in to the account in it before; otherwise undefined. Any provider can
 * make any address its user and sign in as that user. So the browser of one provider's user is not known for users of other providers,
 * nor for an attempt that could reach them because it names no provider.
 */
export async function findKnownBrowser(
  sql: Queryable,
  { email, providerId }: BrowsedAccount,
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

/** Returns the token for the browser's cookie. A crash after it leaves a row that nobody has the token of. */
export async function rememberBrowser(
  sql: Queryable,
  { email, providerId }: { readonly email: string; readonly providerId: string },
  now: Date,
  expiresAt: Date,
): Promise<string> {
  const token = drawToken()
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
