import { randomInt } from 'node:crypto'
import type { Queryable } from '@tollgate/platform/database/database'
import { digestOfParts } from './digest.ts'

/** How long a code can be entered after it was sent. */
export const codeMs = 10 * 60_000

export const codeDigits = 6

export function drawCode(): string {
  return String(randomInt(10 ** codeDigits)).padStart(codeDigits, '0')
}

/**
 * Remembers the code that is sent to an email address. It replaces an earlier one of the same browser. The browser's token
 * is part of what is stored of the code: the code alone is worth nothing in another browser.
 */
export async function saveSignIn(
  sql: Queryable,
  providerId: string,
  signIn: { readonly browserToken: string; readonly email: string; readonly code: string },
  now: Date,
): Promise<void> {
  const { browserToken, email, code } = signIn
  const row = {
    email,
    code_sha256: digestOfParts(browserToken, code),
    attempts: 0,
    expires_at: new Date(now.getTime() + codeMs),
    created_at: now,
  }
  const browser_sha256 = digestOfParts(providerId, browserToken)
  await sql`
    insert into customer_sign_ins ${sql({ provider_id: providerId, browser_sha256, ...row })}
    on conflict (browser_sha256) do update set ${sql(row)}`
}

/** Returns the email address whose code the browser is asked for. */
export async function findSignInEmail(
  sql: Queryable,
  providerId: string,
  browserToken: string,
  now: Date,
): Promise<string | undefined> {
  const [row] = await sql<{ email: string }[]>`
    select email from customer_sign_ins
    where browser_sha256 = ${digestOfParts(providerId, browserToken)} and expires_at > ${now}`
  return row?.email
}

export type CodeOutcome =
  | { readonly kind: 'right'; readonly email: string }
  | { readonly kind: 'wrong'; readonly attemptsLeft: number }
  /** It expired, was used, or too many wrong ones were tried. */
  | { readonly kind: 'none' }

/** Counts the attempt and compares the code in one statement each: of many at once no more than `attemptsMax` are compared. */
export async function tryCode(
  sql: Queryable,
  providerId: string,
  { browserToken, code }: { readonly browserToken: string; readonly code: string },
  { attemptsMax, now }: { readonly attemptsMax: number; readonly now: Date },
): Promise<CodeOutcome> {
  const browser = digestOfParts(providerId, browserToken)
  const [row] = await sql<{ email: string; code_sha256: string; attempts: number }[]>`
    update customer_sign_ins set attempts = attempts + 1
    where browser_sha256 = ${browser} and expires_at > ${now} and attempts < ${attemptsMax}
    returning email, code_sha256, attempts`
  if (row === undefined) return { kind: 'none' }
  // What is compared are digests of a random token, which no timing can find.
  if (row.code_sha256 !== digestOfParts(browserToken, code)) {
    return { kind: 'wrong', attemptsLeft: attemptsMax - row.attempts }
  }
  const used = await sql`
    delete from customer_sign_ins
    where browser_sha256 = ${browser} and code_sha256 = ${row.code_sha256} returning 1`
  return used.length === 1 ? { kind: 'right', email: row.email } : { kind: 'none' }
}
