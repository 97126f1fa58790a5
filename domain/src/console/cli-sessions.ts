import { randomBytes } from 'node:crypto'
import type { Sql } from 'postgres'
import type { Queryable } from '@tollgate/platform/database/database'
import type { Environment } from '@tollgate/schemas/environment'
import { networkOf } from '@tollgate/platform/service/network-of'
import { sha256OfToken } from './tokens.ts'

export type CliSession = {
  readonly sessionId: string
  readonly pollSha256: string
  /** User-Agent header of the client that opened the session. Null if it sent none. Clients can send any value. */
  readonly device: string | null
  /** Network from which the session was opened, see `networkOf`. */
  readonly address: string
  readonly createdAt: Date
  readonly expiresAt: Date
  /** Answer of a console user. Undefined if no user has answered yet. */
  readonly outcome: CliSessionOutcome | undefined
}

export type CliSessionOutcome = {
  readonly kind: 'complete' | 'cancelled'
  readonly email: string
  readonly environment: Environment | null
}

type CliSessionRow = {
  session_id: string
  poll_sha256: string
  device: string | null
  address: string
  created_at: Date
  expires_at: Date
  outcome: CliSessionOutcome['kind'] | null
  email: string
  environment: Environment | null
}

/** Lifetime of a session in milliseconds. It is long enough to sign in first. Clients stop polling after it. */
const sessionMs = 600_000

/** Largest number of open sessions per network address, see `networkOf`. */
const openSessionsMax = 20

/** Longer than any common User-Agent name, and short enough to display. */
const deviceCharsMax = 200

/** The client that opens a session. */
type CliSessionOpener = {
  readonly pollToken: string
  readonly address: string
  readonly device: string | undefined
}

/** Opens a session. Returns undefined if too many sessions from this network are open. */
export async function openCliSession(
  control: Sql,
  { pollToken, address, device }: CliSessionOpener,
  now: Date,
): Promise<{ readonly sessionId: string } | undefined> {
  const network = networkOf(address)
  const sessionId = randomBytes(16).toString('hex')
  const expiresAt = new Date(now.getTime() + sessionMs)
  return await control.begin(async (sql) => {
    // The lock makes concurrent requests from one network count one after the other.
    await sql`select pg_advisory_xact_lock(hashtextextended('cli session ' || ${network}, 0))`
    const [open] = await sql<{ total: number }[]>`
      select count(*)::int as total from cli_sessions
      where address = ${network} and expires_at > ${now}`
    if (open!.total >= openSessionsMax) return undefined
    await sql`
      insert into cli_sessions (session_id, poll_sha256, address, device, created_at, expires_at)
      values (${sessionId}, ${sha256OfToken(pollToken)}, ${network},
        ${device?.slice(0, deviceCharsMax) ?? null}, ${now}, ${expiresAt})`
    return { sessionId }
  })
}

/**
 * Returns the code that the user compares: the end of the session's id, and so of the link in the terminal, as in
 * `4F2A-91CE`.
 */
export function userCodeOf(sessionId: string): string {
  const code = sessionId.slice(-8).toUpperCase()
  return `${code.slice(0, 4)}-${code.slice(4)}`
}

export async function findCliSession(
  control: Sql,
  sessionId: string,
): Promise<CliSession | undefined> {
  const [row] = await control<CliSessionRow[]>`
    select session_id, poll_sha256, device, address, cli_sessions.created_at, expires_at, outcome,
      email, environment
    from cli_sessions left join cli_session_outcomes using (session_id)
    where session_id = ${sessionId}`
  if (row === undefined) return undefined
  const { outcome: kind, email, environment } = row
  return {
    sessionId: row.session_id,
    pollSha256: row.poll_sha256,
    device: row.device,
    address: row.address,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    outcome: kind === null ? undefined : { kind, email, environment },
  }
}

export type NewCliSessionOutcome = CliSessionOutcome & {
  readonly sessionId: string
  readonly providerId: string
  readonly keyId: string | null
  readonly sealedKey: string | null
}

/** Stores the answer. Returns false if the session was answered before. */
export async function insertCliSessionOutcome(
  sql: Queryable,
  outcome: NewCliSessionOutcome,
  now: Date,
): Promise<boolean> {
  const { sessionId, providerId, kind, email, environment, keyId, sealedKey } = outcome
  const inserted = await sql`
    insert into cli_session_outcomes
      (session_id, provider_id, outcome, email, environment, key_id, sealed_key, created_at)
    values (${sessionId}, ${providerId}, ${kind}, ${email}, ${environment}, ${keyId}, ${sealedKey},
      ${now})
    on conflict (session_id) do nothing`
  return inserted.count === 1
}

/**
 * Returns the sealed key and removes it. Of two concurrent requests, one gets the key. Returns undefined if the key was
 * taken before.
 */
export async function removeSealedKey(
  control: Sql,
  sessionId: string,
): Promise<string | undefined> {
  const [row] = await control<{ sealed_key: string }[]>`
    update cli_session_outcomes as taken set sealed_key = null
    from cli_session_outcomes as kept
    where taken.session_id = ${sessionId} and kept.session_id = taken.session_id
      and taken.sealed_key is not null
    returning kept.sealed_key`
  return row?.sealed_key
}

export async function sweepCliSessions(
  sql: Queryable,
  expiredBefore: Date,
  rowsMax: number,
): Promise<number> {
  const rows = await sql`
    delete from cli_sessions where session_id in (
      select session_id from cli_sessions where expires_at < ${expiredBefore}
      order by expires_at limit ${rowsMax})`
  return rows.count
}
