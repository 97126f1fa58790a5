import type { Queryable } from '@tollgate/platform/database/database'
import type { ConsoleRole } from '@tollgate/schemas/console-roles'
import type { Environment } from '@tollgate/schemas/environment'
import { drawAccessToken, drawToken, sha256OfToken } from './tokens.ts'
import type { ConsoleUserName } from './users.ts'

/** Who an access token is of, as the user is now, and where it lets them work. */
export type ConsoleSession = ConsoleUserName & {
  readonly signInId: string
  readonly environment: Environment
  readonly expiresAt: Date
  readonly email: string
  readonly name: string | null
  readonly role: ConsoleRole
  /** Of the live environment of a provider that is not live. */
  readonly isMisplaced: boolean
}

/** Of one user at a time, the newest ones: several browsers, each in both environments. */
const tokensMax = 40

/** Returns the token, which is known only now. The user is locked. */
export async function issueAccessToken(
  sql: Queryable,
  { providerId, userId }: ConsoleUserName,
  fields: {
    readonly environment: Environment
    /** Of the sign-in that it belongs to; default: a new one. */
    readonly signInId?: string
    readonly expiresAt: Date
  },
  now: Date,
): Promise<string> {
  const token = drawAccessToken()
  const { environment, signInId = drawToken(), expiresAt } = fields
  await sql`
    insert into access_tokens
      (provider_id, user_id, sha256, sign_in_id, environment, created_at, expires_at)
    values (${providerId}, ${userId}, ${sha256OfToken(token)}, ${signInId}, ${environment}, ${now},
      ${expiresAt})`
  await sql`
    delete from access_tokens where sha256 in (
      select sha256 from access_tokens where provider_id = ${providerId} and user_id = ${userId}
      order by created_at desc offset ${tokensMax})`
  return token
}

type SessionRow = {
  provider_id: string
  user_id: string
  sign_in_id: string
  environment: Environment
  expires_at: Date
  email: string
  name: string | null
  role: ConsoleRole
  is_misplaced: boolean
}

/** Of any provider; undefined for a token that opens nothing, or nothing any more. */
export async function findConsoleSession(
  sql: Queryable,
  token: string,
  now: Date,
): Promise<ConsoleSession | undefined> {
  const [row] = await sql<SessionRow[]>`
    select provider_id, user_id, sign_in_id, environment, expires_at, console_users.email,
      console_users.name, role, environment = 'live' and not is_live as is_misplaced
    from access_tokens join console_users using (provider_id, user_id)
    join providers using (provider_id)
    where sha256 = ${sha256OfToken(token)} and expires_at > ${now}`
  if (row === undefined) return undefined
  return {
    providerId: row.provider_id,
    userId: row.user_id,
    signInId: row.sign_in_id,
    environment: row.environment,
    expiresAt: row.expires_at,
    email: row.email,
    name: row.name,
    role: row.role,
    isMisplaced: row.is_misplaced,
  }
}

/** Whether it was not ended meanwhile. */
export async function isSignInOpen(
  sql: Queryable,
  { providerId, userId, signInId }: Pick<ConsoleSession, 'providerId' | 'userId' | 'signInId'>,
): Promise<boolean> {
  const found = await sql`
    select 1 from access_tokens
    where provider_id = ${providerId} and user_id = ${userId} and sign_in_id = ${signInId} limit 1`
  return found.length > 0
}

/** Ends what came of one sign-in. The user is locked. */
export async function deleteSignIn(
  sql: Queryable,
  { providerId, signInId }: Pick<ConsoleSession, 'providerId' | 'signInId'>,
): Promise<void> {
  await sql`
    delete from access_tokens where provider_id = ${providerId} and sign_in_id = ${signInId}`
}

/** Ends whatever the user is signed in with. The user is locked. */
export async function deleteAccessTokens(
  sql: Queryable,
  { providerId, userId }: ConsoleUserName,
): Promise<void> {
  await sql`
    delete from access_tokens where provider_id = ${providerId} and user_id = ${userId}`
}

/** Of any provider, some at a time. */
export async function sweepAccessTokens(
  sql: Queryable,
  now: Date,
  rowsMax: number,
): Promise<number> {
  const rows = await sql`
    delete from access_tokens where sha256 in (
      select sha256 from access_tokens where expires_at <= ${now}
      order by expires_at limit ${rowsMax})`
  return rows.count
}
