import type { Environment } from '@tollgate/schemas/environment'
import { setActor, userActor, type ActorOrigin } from '../audit/actor.ts'
import { deleteAccessTokens, type ConsoleSession } from './access-tokens.ts'
import type { ConsoleParts } from './console-parts.ts'
import { admitAttempt, revertAttempts } from './guard-attempts.ts'
import { openSignIn, type SignedIn } from './sign-in.ts'
import { sha256OfToken } from './tokens.ts'
import {
  findConsoleUserByLink,
  listConsoleUsersByEmail,
  lockConsoleUsers,
  setPasswordHash,
  type ConsoleUser,
} from './users.ts'

export type SetByLinkOutcome =
  { readonly kind: 'set'; readonly user: ConsoleUser } | { readonly kind: 'no-such-link' }

/** Sets the password with a one-time link. The link works once: of two concurrent requests, one sets the password. */
export async function setPasswordByLink(
  parts: ConsoleParts,
  request: { readonly token: string; readonly password: string; readonly origin: ActorOrigin },
  now: Date,
): Promise<SetByLinkOutcome> {
  const linkSha256 = sha256OfToken(request.token)
  const isValidLink = (user: ConsoleUser | undefined): user is ConsoleUser =>
    user !== undefined && user.linkExpiresAt !== null && user.linkExpiresAt > now
  const found = await findConsoleUserByLink(parts.database.control, linkSha256)
  if (!isValidLink(found)) return { kind: 'no-such-link' }
  const passwordHash = await hashNewPassword(parts, found, request.password)
  return await parts.database.of(found.providerId).control.write(async (sql) => {
    setActor(sql, userActor(found.userId, request.origin))
    await lockConsoleUsers(sql, found.providerId)
    const user = await findConsoleUserByLink(sql, linkSha256)
    if (!isValidLink(user)) return { kind: 'no-such-link' }
    // Order matters: `setPasswordHash` locks the user, so `deleteAccessTokens` also finds tokens that were being
    // issued.
    await setPasswordHash(sql, user, passwordHash, now)
    await deleteAccessTokens(sql, user)
    return { kind: 'set', user }
  })
}

export type ChangePasswordOutcome =
  | { readonly kind: 'changed'; readonly signedIn: SignedIn }
  | { readonly kind: 'wait'; readonly waitMs: number }
  | { readonly kind: 'refused' }

/** Changes the password, ends all tokens of the user, and signs the user in again. */
export async function changePassword(
  parts: ConsoleParts,
  session: Pick<ConsoleSession, 'providerId' | 'userId' | 'email'> & {
    readonly environment: Environment
  },
  request: {
    readonly currentPassword: string
    readonly newPassword: string
    readonly address: string
    readonly browserToken: string | undefined
    readonly origin: ActorOrigin
  },
  now: Date,
): Promise<ChangePasswordOutcome> {
  const { email, providerId } = session
  const attempt = await admitAttempt(parts, { ...request, email, providerId }, now)
  if (attempt.kind === 'wait') return attempt
  const users = await listConsoleUsersByEmail(parts.database.control, email)
  const user = users.find(({ userId }) => userId === session.userId)
  const oldHash = user?.passwordHash ?? undefined
  const [matching] = await parts.passwords.matching(
    request.currentPassword,
    oldHash === undefined ? [] : [oldHash],
  )
  if (user === undefined || matching === undefined) return { kind: 'refused' }
  const passwordHash = await hashNewPassword(parts, user, request.newPassword)
  const opened = { environment: session.environment, origin: request.origin }
  const signedIn = await openSignIn(parts, user, opened, now, async (sql) => {
    await setPasswordHash(sql, user, passwordHash, now)
    await deleteAccessTokens(sql, user)
    return true
  })
  if (signedIn === undefined) return { kind: 'refused' }
  await revertAttempts(parts, attempt.counted)
  return { kind: 'changed', signedIn }
}

async function hashNewPassword(
  { database, passwords }: ConsoleParts,
  { email }: ConsoleUser,
  password: string,
): Promise<string> {
  const users = await listConsoleUsersByEmail(database.control, email)
  return passwords.hash(
    password,
    users.flatMap(({ passwordHash }) => passwordHash ?? []),
  )
}
