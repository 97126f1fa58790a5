import type { Database } from '@tollgate/platform/database/database'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { SecretPlace } from '@tollgate/platform/secrets/secret-box'
import type { Environment } from '@tollgate/schemas/environment'
import {
  addApiKey,
  apiKeyTarget,
  publishKeys,
  type IssuedApiKey,
  type OnUnpublished,
} from '../publishing/issue-api-key.ts'
import { setActor, userActor, type ActorOrigin } from '../audit/actor.ts'
import {
  findCliSession,
  insertCliSessionOutcome,
  removeSealedKey,
  type CliSession,
} from './cli-sessions.ts'
import { isTokenOf } from './tokens.ts'

export type CliSessionParts = {
  readonly database: Database
  readonly hotState: HotState
  readonly secrets: {
    readonly seal: (secret: string, place: SecretPlace) => string
    readonly open: (sealed: string, place: SecretPlace) => string
  }
}

/** The console user who answers the session. */
type Answerer = { readonly providerId: string; readonly email: string; readonly userId: string }

export type AnswerOutcome = 'answered' | 'answered-before' | 'not-found'

/**
 * Issues an API key of the environment for the command line that opened the session. The key and its sealed secret
 * commit together. After a crash before the commit, the session is still open. After a crash behind the commit, the
 * command line can fetch the key, and the key is published at the next start.
 */
export async function completeCliSession(
  { database, hotState, secrets }: CliSessionParts,
  sessionId: string,
  { providerId, email, userId }: Answerer,
  origin: ActorOrigin,
  environment: Environment,
  now: Date,
  onUnpublished: OnUnpublished,
): Promise<AnswerOutcome> {
  if (!(await isOpen(database, sessionId, now))) return 'not-found'
  const fields = { providerId, environment, name: `command line of ${email}`, expiresAt: null }
  const kind = 'complete' as const
  const issued = await database
    .of(providerId)
    .control.write(async (sql) => {
      setActor(sql, userActor(userId, origin))
      const made: IssuedApiKey = await addApiKey(sql, fields, now)
      const { keyId } = made.key
      const sealedKey = secrets.seal(made.secretKey, placeOf(sessionId))
      const outcome = { sessionId, providerId, kind, email, environment, keyId, sealedKey }
      if (!(await insertCliSessionOutcome(sql, outcome, now))) throw new AnsweredBeforeError()
      return made
    })
    .catch(undefinedIfAnswered)
  if (issued === undefined) return 'answered-before'
  await publishKeys(database, hotState, [apiKeyTarget(issued.key)], onUnpublished)
  return 'answered'
}

/** Rolls back the transaction, so that the key that was issued in it is not stored. */
class AnsweredBeforeError extends Error {
  override readonly name = 'AnsweredBeforeError'
}

function undefinedIfAnswered(error: unknown): undefined {
  if (!(error instanceof AnsweredBeforeError)) throw error
}

export async function cancelCliSession(
  { database }: Pick<CliSessionParts, 'database'>,
  sessionId: string,
  { providerId, email }: Answerer,
  now: Date,
): Promise<AnswerOutcome> {
  if (!(await isOpen(database, sessionId, now))) return 'not-found'
  const none = { environment: null, keyId: null, sealedKey: null }
  const outcome = { sessionId, providerId, kind: 'cancelled', email, ...none } as const
  const isFirst = await database
    .of(providerId)
    .control.write((sql) => insertCliSessionOutcome(sql, outcome, now))
  return isFirst ? 'answered' : 'answered-before'
}

/** State of the session, as returned to the command line. */
export type Exchange =
  | { readonly status: 'pending' | 'expired' | 'cancelled' }
  | {
      readonly status: 'complete'
      readonly email: string
      readonly environment: Environment
      /** Undefined if the key was handed out before. */
      readonly secretKey: string | undefined
    }

/** Returns undefined if the session does not exist or the poll token is not its own. */
export async function exchangeCliSession(
  { database, secrets }: CliSessionParts,
  sessionId: string,
  pollToken: string,
  now: Date,
): Promise<Exchange | undefined> {
  const session = await findCliSession(database.control, sessionId)
  if (session === undefined || !isTokenOf(session.pollSha256, pollToken)) return undefined
  if (session.outcome?.kind === 'cancelled') return { status: 'cancelled' }
  if (session.expiresAt <= now) return { status: 'expired' }
  const { outcome } = session
  if (outcome === undefined || outcome.environment === null) return { status: 'pending' }
  const { email, environment } = outcome
  const sealed = await removeSealedKey(database.control, sessionId)
  const secretKey = sealed === undefined ? undefined : secrets.open(sealed, placeOf(sessionId))
  return { status: 'complete', email, environment, secretKey }
}

async function isOpen(database: Database, sessionId: string, now: Date): Promise<boolean> {
  const session: CliSession | undefined = await findCliSession(database.control, sessionId)
  return session !== undefined && session.expiresAt > now
}

function placeOf(sessionId: string): SecretPlace {
  return { table: 'cli_session_outcomes', column: 'sealed_key', owner: sessionId }
}
