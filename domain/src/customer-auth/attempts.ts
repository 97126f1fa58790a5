import type { Queryable } from '@tollgate/platform/database/database'
import { countInWindow } from '../postgres/count-in-window.ts'
import { digestOfParts } from './digest.ts'

/**
 * Limits exist for short codes sent to a mailbox, for long ones sent to its addresses with tags, for codes requested or entered from a
 * network, and for clients registered and sign-ins begun from one.
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
 * Counts an attempt before it is made. Returns undefined if it may be made, otherwise how long to wait. `sql` sees the rows of
 * all providers: a network is limited at all of them together.
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
