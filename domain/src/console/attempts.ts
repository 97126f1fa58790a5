import type { Queryable } from '@tollgate/platform/database/database'
import { countInWindow } from '../postgres/count-in-window.ts'

/** Whose attempts are counted: those for one account, from one place, or in a browser that the account was used in. */
export type AttemptsOf = {
  readonly kind: 'email' | 'address' | 'browser'
  readonly subject: string
}

export type AttemptLimits = {
  readonly windowMs: number
  readonly perEmailMax: number
  /** More: people share addresses. */
  readonly perAddressMax: number
}

/** One that was let through, and the window that it counts in. */
export type CountedAttempt = AttemptsOf & { readonly windowEndsAt: Date }

export type CountOutcome =
  | { readonly kind: 'counted'; readonly attempt: CountedAttempt }
  | { readonly kind: 'wait'; readonly waitMs: number }

/** Counts an attempt before it is made, so that many at once are as many. Where there were too many, it does not count. */
export async function countAttempt(
  sql: Queryable,
  { kind, subject }: AttemptsOf,
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

/** Takes this one back, which was no guess. Those before it stay: they may be somebody else's. */
export async function uncountAttempt(
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

function maxOf(kind: AttemptsOf['kind'], limits: AttemptLimits): number {
  return kind === 'address' ? limits.perAddressMax : limits.perEmailMax
}
