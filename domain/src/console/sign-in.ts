import type { TransactionSql } from 'postgres'
import type { Environment } from '@tollgate/schemas/environment'
import { setActor, userActor, type ActorOrigin } from '../audit/actor.ts'
import { findProvider, type Provider } from '../providers/repository.ts'
import { issueAccessToken } from './access-tokens.ts'
import type { ConsoleParts } from './console-parts.ts'
import { admitAttempt, revertAttempts, type Attempt } from './guard-attempts.ts'
import { rememberBrowser } from './known-browsers.ts'
import { listConsoleUsersByEmail, lockConsoleUser, type ConsoleUser } from './users.ts'

export type SignIn = Attempt & {
  readonly password: string
  readonly environment: Environment
  /** Required if the person has users with this password at several providers. */
  readonly providerId: string | undefined
  readonly origin: ActorOrigin
}

export type SignedIn = {
  readonly accessToken: string
  readonly expiresAt: Date
  readonly environment: Environment
  readonly user: ConsoleUser
  readonly provider: Provider
}

export type SignInOutcome =
  | {
      readonly kind: 'signed-in'
      readonly signedIn: SignedIn
      /** Token for the cookie of a browser that was not known before. */
      readonly browserToken: string | undefined
    }
  | { readonly kind: 'several'; readonly providers: readonly Provider[] }
  | { readonly kind: 'refused' }
  | { readonly kind: 'wait'; readonly waitMs: number }

/**
 * Signs a user in. The result and its duration do not reveal whether the email address is unknown or the password is
 * wrong.
 */
export async function signIn(
  parts: ConsoleParts,
  request: SignIn,
  now: Date,
): Promise<SignInOutcome> {
  const attempt = await admitAttempt(parts, request, now)
  if (attempt.kind === 'wait') return attempt
  const { matching, others } = await compareWithUsers(parts, request)
  // The attempt is only taken back if no user with the address has another password: for the users of other passwords,
  // it was a wrong guess.
  if (matching.length > 0 && others.length === 0) await revertAttempts(parts, attempt.counted)
  const [user, another] = matching
  if (user === undefined) return { kind: 'refused' }
  if (another === undefined) {
    const signedIn = await openSignIn(parts, user, request, now)
    if (signedIn === undefined) return { kind: 'refused' }
    const browserToken = attempt.isKnownBrowser
      ? undefined
      : await rememberBrowser(parts.database.control, user, now, browserKnownUntil(parts, now))
    return { kind: 'signed-in', signedIn, browserToken }
  }
  return { kind: 'several', providers: await providersOf(parts, matching) }
}

function browserKnownUntil({ limits }: ConsoleParts, now: Date): Date {
  return new Date(now.getTime() + limits.knownBrowserMs)
}

/**
 * Issues an access token. Returns undefined if the user was removed, or the password was changed since it was compared.
 * `before` runs in the same transaction and can refuse the sign-in with false.
 */
export async function openSignIn(
  parts: ConsoleParts,
  user: ConsoleUser,
  { environment, origin }: Pick<SignIn, 'environment' | 'origin'>,
  now: Date,
  before: (sql: TransactionSql) => Promise<boolean> = () => Promise.resolve(true),
): Promise<SignedIn | undefined> {
  const provider = await providerOf(parts, user)
  const expiresAt = new Date(now.getTime() + parts.limits.signedInMs)
  const rows = parts.database.of(user.providerId).control
  const accessToken = await rows.write(async (sql) => {
    setActor(sql, userActor(user.userId, origin))
    const locked = await lockConsoleUser(sql, user)
    if (locked?.passwordHash !== user.passwordHash) return undefined
    if (!(await before(sql))) return undefined
    return issueAccessToken(sql, user, { environment, expiresAt }, now)
  })
  return accessToken === undefined
    ? undefined
    : { accessToken, expiresAt, environment, user, provider }
}

/**
 * Compares the password with the users of the email address, one per provider or only that of the given provider.
 * Returns the users whose password it is, and the others.
 */
async function compareWithUsers(
  { database, passwords }: ConsoleParts,
  { email, password, providerId }: Pick<SignIn, 'email' | 'password' | 'providerId'>,
): Promise<{ readonly matching: readonly ConsoleUser[]; readonly others: readonly ConsoleUser[] }> {
  const users = (await listConsoleUsersByEmail(database.control, email)).filter(
    (user) =>
      user.passwordHash !== null && (providerId === undefined || user.providerId === providerId),
  )
  const hashes = users.flatMap(({ passwordHash }) => passwordHash ?? [])
  const found = new Set<string | null>(await passwords.matching(password, hashes))
  return {
    matching: users.filter(({ passwordHash }) => found.has(passwordHash)),
    others: users.filter(({ passwordHash }) => !found.has(passwordHash)),
  }
}

/** Returns the providers of the users. */
export function providersOf(
  parts: ConsoleParts,
  users: readonly ConsoleUser[],
): Promise<Provider[]> {
  return Promise.all(users.map((user) => providerOf(parts, user)))
}

async function providerOf(
  { database }: ConsoleParts,
  { providerId }: Pick<ConsoleUser, 'providerId'>,
): Promise<Provider> {
  const provider = await findProvider(database.control, providerId)
  if (provider === undefined)
    throw new Error(`provider ${providerId} of a console user does not exist`)
  return provider
}
