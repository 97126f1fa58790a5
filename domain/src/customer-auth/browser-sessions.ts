import type { Queryable } from '@tollgate/platform/database/database'
import { digestOfParts } from './digest.ts'

/** A browser whose user has proved to own an email address, at one provider in one environment. */
export type BrowserSession = {
  readonly email: string
  readonly name: string | null
}

export async function startBrowserSession(
  sql: Queryable,
  providerId: string,
  session: BrowserSession & { readonly token: string; readonly expiresAt: Date },
  now: Date,
): Promise<void> {
  const { token, email, name, expiresAt } = session
  await sql`
    insert into customer_browser_sessions
      (provider_id, token_sha256, email, name, expires_at, created_at)
    values (${providerId}, ${digestOfParts(token)}, ${email}, ${name}, ${expiresAt}, ${now})`
}

export async function findBrowserSession(
  sql: Queryable,
  providerId: string,
  token: string,
  now: Date,
): Promise<BrowserSession | undefined> {
  const [row] = await sql<BrowserSession[]>`
    select email, name from customer_browser_sessions
    where provider_id = ${providerId} and token_sha256 = ${digestOfParts(token)}
      and expires_at > ${now}`
  return row
}

export async function endBrowserSession(
  sql: Queryable,
  providerId: string,
  token: string,
): Promise<void> {
  await sql`
    delete from customer_browser_sessions
    where provider_id = ${providerId} and token_sha256 = ${digestOfParts(token)}`
}
