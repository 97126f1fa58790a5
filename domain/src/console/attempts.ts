import type { Queryable } from '@tollgate/platform/database/database'
import { countInWindow } from '../postgres/count-in-window.ts'

/**
 * Subject of the counted attempts: one account, one network address, or a browser in which the account was used before.
 */
export type AttemptSubject = {
  readonly kind: 'email' | 'address' | 'browser'
  readonly subject: string
}

export type AttemptLimits = {
  readonly windowMs: number
  readonly perEmailMax: number
  /** Higher than the limit per email, because people share addresses. */
  readonly perAddressMax: number
}

/** An attempt that was allowed, and the end of its counting window. */
export type CountedAttempt = AttemptSubject & { readonly windowEndsAt: Date }

export type CountOutcome =
  | { readonly kind: 'counted'; readonly attempt: CountedAttempt }
  | { readonly kind: 'wait'; readonly waitMs: number }

/**
 * Counts an attempt before it is made, so that concurrent attempts are all counted. An attempt over the limit is not
 * counted.
 */
export async function countAttempt(
  sql: Queryable,
  { kind, subject }: AttemptSubject,
  limits: AttemptLimits,
  now: Date,
): Promise<CountOutcome> {
  const { windowEndsAt, waitMs } = await countInWindow(
    sql,
    { table: 'sign_in_attempts', kind, subject },
    { max: maxOf(kind, limits), windowMs: limits.windowMs },
    now,
  )
  if (waitMs !== undefined) return { kind: 'wait', waitMs }
  return { kind: 'counted', attempt: { kind, subject, windowEndsAt } }
}

/**
 * Takes back an attempt that was not a guess. Earlier attempts stay counted, because they may come from another person.
 */
export async function revertAttempt(
  sql: Queryable,
  { kind, subject, windowEndsAt }: CountedAttempt,
  limits: AttemptLimits,
): Promise<void> {
  await sql`
    update sign_in_attempts set attempts = least(attempts, ${maxOf(kind, limits)}) - 1
    where kind = ${kind} and subject = lower(${subject}) and window_ends_at = ${windowEndsAt}`
}

export async function sweepAttempts(sql: Queryable, now: Date, rowsMax: number): Promise<number> {
  const rows = await sql`
    delete from sign_in_attempts where (kind, subject) in (
      select kind, subject from sign_in_attempts where window_ends_at <= ${now}
      order by window_ends_at limit ${rowsMax})`
  return rows.count
}

function maxOf(kind: AttemptSubject['kind'], limits: AttemptLimits): number {
  return kind === 'address' ? limits.perAddressMax : limits.perEmailMax
}
