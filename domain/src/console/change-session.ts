import type { ProviderDatabases } from '@tollgate/platform/database/database'
import type { Environment } from '@tollgate/schemas/environment'
import { setActor, type Actor } from '../audit/actor.ts'
import {
  deleteSignIn,
  isSignInOpen,
  issueAccessToken,
  type ConsoleSession,
} from './access-tokens.ts'
import { lockConsoleUser } from './users.ts'

type Change = { readonly actor: Actor; readonly now: Date }

/**
 * Issues a second token of the same sign-in for the environment. Returns undefined if the sign-in has ended since the
 * session was read.
 */
export function issueEnvironmentToken(
  database: ProviderDatabases,
  session: ConsoleSession,
  environment: Environment,
  { actor, now }: Change,
): Promise<string | undefined> {
  return database.of(session.providerId).control.write(async (sql) => {
    setActor(sql, actor)
    await lockConsoleUser(sql, session)
    if (!(await isSignInOpen(sql, session))) return undefined
    return issueAccessToken(sql, session, { ...session, environment }, now)
  })
}

export function signOut(database: ProviderDatabases, session: ConsoleSession): Promise<void> {
  return database.of(session.providerId).control.write(async (sql) => {
    await lockConsoleUser(sql, session)
    await deleteSignIn(sql, session)
  })
}
