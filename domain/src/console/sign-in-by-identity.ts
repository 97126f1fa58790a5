import type { Environment } from '@tollgate/schemas/environment'
import type { ActorOrigin } from '../audit/actor.ts'
import type { Provider } from '../providers/repository.ts'
import type { ConsoleParts } from './console-parts.ts'
import { linkIdentity, listUsersOfIdentity, type ConsoleIdentity } from './identities.ts'
import { openSignIn, providersOf, type SignedIn } from './sign-in.ts'

/** A sign-in of someone whom an OpenID Connect issuer has authenticated. */
export type IdentitySignIn = {
  readonly identity: ConsoleIdentity
  /** Undefined if the issuer has not verified that the address belongs to the account. */
  readonly verifiedEmail: string | undefined
  readonly environment: Environment
  /** Required if the account signs in users of several providers. */
  readonly providerId: string | undefined
  readonly origin: ActorOrigin
}

export type IdentitySignInOutcome =
  | { readonly kind: 'signed-in'; readonly signedIn: SignedIn }
  | { readonly kind: 'several'; readonly providers: readonly Provider[] }
  | { readonly kind: 'refused' }

/**
 * Signs in the user of the account. The first sign-in links the account to the user with its email address, also if the user has not
 * set a password yet. A crash leaves either both the link and the sign-in, or neither.
 */
export async function signInByIdentity(
  parts: ConsoleParts,
  request: IdentitySignIn,
  now: Date,
): Promise<IdentitySignInOutcome> {
  const { identity, verifiedEmail, providerId } = request
  const found = await listUsersOfIdentity(parts.database.control, identity, verifiedEmail)
  const users = found.filter((user) => providerId === undefined || user.providerId === providerId)
  const [user, another] = users
  if (user === undefined) return { kind: 'refused' }
  if (another !== undefined) return { kind: 'several', providers: await providersOf(parts, users) }
  const signedIn = await openSignIn(parts, user, request, now, (sql) =>
    linkIdentity(sql, user, identity, now),
  )
  return signedIn === undefined ? { kind: 'refused' } : { kind: 'signed-in', signedIn }
}
