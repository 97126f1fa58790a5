import type { Queryable } from '@tollgate/platform/database/database'
import { countInWindow } from '../postgres/count-in-window.ts'
import { digestOfParts } from './digest.ts'

/**
 * Kinds of attempts that are limited: short codes that are sent to a mailbox, per window and per day; long codes that
 * are sent to addresses with tags of a mailbox; and, per network, codes that are requested, codes that are entered,
 * clients that are registered, and sign-ins that are begun. Discount codes that a customer enters are counted like entered codes, with
 * the customer as the subject.
 */
export type AttemptKind =
  | 'code-email'
  | 'code-email-day'
  | 'code-tags'
  | 'code-address'
  | 'guess-address'
  | 'register-address'
  | 'authorize-address'

export type AttemptLimit = {
  readonly kind: AttemptKind
  readonly max: number
  readonly windowMs: number
}

/**
 * Counts an attempt before it is made. Returns undefined if the attempt is allowed, otherwise how many milliseconds to
 * wait. `sql` must see the rows of all providers, because a network has one limit for all of them.
 */
export async function countAuthAttempt(
  sql: Queryable,
  { kind, max, windowMs }: AttemptLimit,
  subject: string,
  now: Date,
): Promise<number | undefined> {
  const counted = {
    table: 'customer_auth_attempts',
    kind,
    subject: digestOfParts(subject),
  } as const
  return (await countInWindow(sql, counted, { max, windowMs }, now)).waitMs
}
