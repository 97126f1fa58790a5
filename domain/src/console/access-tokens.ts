import type { Queryable } from '@tollgate/platform/database/database'
import type { ConsoleRole } from '@tollgate/schemas/console-roles'
import type { Environment } from '@tollgate/schemas/environment'
import { generateAccessToken, generateToken, sha256OfToken } from './tokens.ts'
import type { ConsoleUserKey } from './users.ts'

/** The user and environment of an access token, with the user's current data. */
export type ConsoleSession = ConsoleUserKey & {
  readonly signInId: string
  readonly environment: Environment
  readonly expiresAt: Date
  readonly email: string
  readonly name: string | null
  readonly role: ConsoleRole
  /** Whether the token is for the live environment of a provider that is not live yet. */
  readonly isMisplaced: boolean
}

/**
 * Largest number of tokens per user. The newest tokens stay. It is enough for several browsers, each in both
 * environments.
 */
const tokensMax = 40

/**
 * Stores a new access token and returns it. The token cannot be read again later, because only its hash is stored. The
 * caller has locked the user.
 */
export async function issueAccessToken(
  sql: Queryable,
  { providerId, userId }: ConsoleUserKey,
  fields: {
    readonly environment: Environment
    /** Id of the sign-in that the token belongs to. Default: a new sign-in. */
    readonly signInId?: string
    readonly expiresAt: Date
  },
  now: Date,
): Promise<string> {
  const token = generateAccessToken()
  const { environment, signInId = generateToken(), expiresAt } = fields
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
  is_live: boolean
}

/**
 * Returns the session of an access token of any provider. Returns undefined if the token does not exist or has expired. With
 * `environment`, the session is of that environment instead of the token's: a user has the same role in both.
 */
export async function findConsoleSession(
  sql: Queryable,
  token: string,
  now: Date,
  environment?: Environment,
): Promise<ConsoleSession | undefined> {
  const [row] = await sql<SessionRow[]>`
    select provider_id, user_id, sign_in_id, environment, expires_at, console_users.email,
      console_users.name, role, is_live
    from access_tokens join console_users using (provider_id, user_id)
    join providers using (provider_id)
    where sha256 = ${sha256OfToken(token)} and expires_at > ${now}`
  if (row === undefined) return undefined
  const place = environment ?? row.environment
  return {
    providerId: row.provider_id,
    userId: row.user_id,
    signInId: row.sign_in_id,
    environment: place,
    expiresAt: row.expires_at,
    email: row.email,
    name: row.name,
    role: row.role,
    isMisplaced: place === 'live' && !row.is_live,
  }
}

/** Returns whether the sign-in was not ended in the meantime. */
export async function isSignInOpen(
  sql: Queryable,
  { providerId, userId, signInId }: Pick<ConsoleSession, 'providerId' | 'userId' | 'signInId'>,
): Promise<boolean> {
  const found = await sql`
    select 1 from access_tokens
    where provider_id = ${providerId} and user_id = ${userId} and sign_in_id = ${signInId} limit 1`
  return found.length > 0
}

/** Ends all tokens of one sign-in. The caller has locked the user. */
export async function deleteSignIn(
  sql: Queryable,
  { providerId, signInId }: Pick<ConsoleSession, 'providerId' | 'signInId'>,
): Promise<void> {
  await sql`
    delete from access_tokens where provider_id = ${providerId} and sign_in_id = ${signInId}`
}

/** Ends all tokens of the user. The caller has locked the user. */
export async function deleteAccessTokens(
  sql: Queryable,
  { providerId, userId }: ConsoleUserKey,
): Promise<void> {
  await sql`
    delete from access_tokens where provider_id = ${providerId} and user_id = ${userId}`
}

/** Deletes at most `rowsMax` expired tokens of all providers. Returns how many were deleted. */
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
