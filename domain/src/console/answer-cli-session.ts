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
import { nameActor, userActor, type ActorOrigin } from '../audit/actor.ts'
import {
  findCliSession,
  insertCliSessionOutcome,
  takeSealedKey,
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

/** The user of the console who answers. */
type Answerer = { readonly providerId: string; readonly email: string; readonly userId: string }

export type AnswerOutcome = 'answered' | 'answered-before' | 'not-found'

/**
 * Makes a key of that environment for whoever opened the session. The key and its sealed secret commit together: a crash
 * before leaves the session open, a crash after leaves a key that is fetched all the same, and published at the next start.
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
      nameActor(sql, userActor(userId, origin))
      const made: IssuedApiKey = await addApiKey(sql, fields, now)
      const { keyId } = made.key
      const sealedKey = secrets.seal(made.secretKey, placeOf(sessionId))
      const outcome = { sessionId, providerId, kind, email, environment, keyId, sealedKey }
      if (!(await insertCliSessionOutcome(sql, outcome, now))) throw new AnsweredBeforeError()
      return made
    })
    .catch(orUndefined)
  if (issued === undefined) return 'answered-before'
  await publishKeys(database, hotState, [apiKeyTarget(issued.key)], onUnpublished)
  return 'answered'
}

/** Takes the key back that was made in the same transaction. */
class AnsweredBeforeError extends Error {
  override readonly name = 'AnsweredBeforeError'
}

function orUndefined(error: unknown): undefined {
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

/** What the command line is told. */
export type Exchange =
  | { readonly status: 'pending' | 'expired' | 'cancelled' }
  | {
      readonly status: 'complete'
      readonly email: string
      readonly environment: Environment
      /** Undefined: it was handed out before. */
      readonly secretKey: string | undefined
    }

/** Undefined for a session that is not there, and for a token that is not its own. */
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
  const sealed = await takeSealedKey(database.control, sessionId)
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
