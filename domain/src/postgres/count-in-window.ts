import type { Queryable } from '@tollgate/platform/database/database'

/** What is counted: attempts of one kind for one subject, in a table with `kind`, `subject`, `attempts` and `window_ends_at`. */
export type CountedSubject = {
  readonly table: 'sign_in_attempts' | 'customer_auth_attempts'
  readonly kind: string
  /** Compared without case. */
  readonly subject: string
}

export type CountWindow = { readonly max: number; readonly windowMs: number }

export type CountedInWindow = {
  readonly windowEndsAt: Date
  /** Milliseconds to wait if there were too many attempts; undefined if the attempt is allowed. */
  readonly waitMs: number | undefined
}

/**
 * Counts an attempt before it is made, so that concurrent attempts are all counted. Attempts beyond the maximum are not counted
 * further.
 */
export async function countInWindow(
  sql: Queryable,
  { table, kind, subject }: CountedSubject,
  { max, windowMs }: CountWindow,
  now: Date,
): Promise<CountedInWindow> {
  const newWindowEndsAt = new Date(now.getTime() + windowMs)
  // The count stops at one more than the maximum, which marks that the maximum was exceeded.
  const [row] = await sql<{ attempts: number; window_ends_at: Date }[]>`
    insert into ${sql(table)} as kept (kind, subject, attempts, window_ends_at)
    values (${kind}, lower(${subject}), 1, ${newWindowEndsAt})
    on conflict (kind, subject) do update set
      attempts = case when kept.window_ends_at <= ${now} then 1
        else least(kept.attempts + 1, ${max + 1}) end,
      window_ends_at = case when kept.window_ends_at <= ${now} then ${newWindowEndsAt}
        else kept.window_ends_at end
    returning attempts, window_ends_at`
  const { attempts, window_ends_at: windowEndsAt } = row!
  const isOver = attempts > max
  return { windowEndsAt, waitMs: isOver ? windowEndsAt.getTime() - now.getTime() : undefined }
}
