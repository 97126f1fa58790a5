import type { Queryable } from '@tollgate/platform/database/database'
import { digestOfParts } from './digest.ts'

/** What is limited: codes sent to an address, codes requested and tried from a network, and clients registered from one. */
export type AttemptKind =
  'code-email' | 'code-email-day' | 'code-address' | 'guess-address' | 'register-address'

export type AttemptLimit = {
  readonly kind: AttemptKind
  readonly max: number
  readonly windowMs: number
}

/**
 * Counts an attempt before it is made, so that many at once are as many. Returns undefined if it may be made, otherwise how
 * long to wait. `sql` sees the rows of all providers: a network is limited at all of them together.
 */
export async function countAuthAttempt(
  sql: Queryable,
  { kind, max, windowMs }: AttemptLimit,
  subject: string,
  now: Date,
): Promise<number | undefined> {
  const newWindowEndsAt = new Date(now.getTime() + windowMs)
  const [row] = await sql<{ attempts: number; window_ends_at: Date }[]>`
    insert into customer_auth_attempts as kept (kind, subject, attempts, window_ends_at)
    values (${kind}, ${digestOfParts(subject)}, 1, ${newWindowEndsAt})
    on conflict (kind, subject) do update set
      attempts = case when kept.window_ends_at <= ${now} then 1
        else least(kept.attempts + 1, ${max + 1}) end,
      window_ends_at = case when kept.window_ends_at <= ${now} then ${newWindowEndsAt}
        else kept.window_ends_at end
    returning attempts, window_ends_at`
  const { attempts, window_ends_at: windowEndsAt } = row!
  return attempts > max ? windowEndsAt.getTime() - now.getTime() : undefined
}
