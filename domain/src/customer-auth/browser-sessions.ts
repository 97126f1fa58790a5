import type { Queryable } from '@tollgate/platform/database/database'
import { digestOfParts } from './digest.ts'
import type { UpstreamIdentity } from './upstream-identities.ts'

/** A browser whose user has proved to own an email address, at one provider in one environment. */
export type BrowserSession = {
  readonly email: string
  readonly name: string | null
  /** Upstream account with which the user signed in. Null if the user entered a code. */
  readonly identity: UpstreamIdentity | null
}

export async function startBrowserSession(
  sql: Queryable,
  providerId: string,
  session: BrowserSession & { readonly token: string; readonly expiresAt: Date },
  now: Date,
): Promise<void> {
  const { token, email, name, identity, expiresAt } = session
  await sql`
    insert into customer_browser_sessions
      (provider_id, token_sha256, email, name, issuer, subject, expires_at, created_at)
    values (${providerId}, ${digestOfParts(token)}, ${email}, ${name},
      ${identity?.issuer ?? null}, ${identity?.subject ?? null}, ${expiresAt}, ${now})`
}

type SessionRow = {
  email: string
  name: string | null
  issuer: string | null
  subject: string | null
}

export async function findBrowserSession(
  sql: Queryable,
  providerId: string,
  token: string,
  now: Date,
): Promise<BrowserSession | undefined> {
  const [row] = await sql<SessionRow[]>`
    select email, name, issuer, subject from customer_browser_sessions
    where provider_id = ${providerId} and token_sha256 = ${digestOfParts(token)}
      and expires_at > ${now}`
  if (row === undefined) return undefined
  const { email, name, issuer, subject } = row
  const identity = issuer === null || subject === null ? null : { issuer, subject }
  return { email, name, identity }
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
