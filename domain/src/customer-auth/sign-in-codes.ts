import { randomInt } from 'node:crypto'
import type { Queryable } from '@tollgate/platform/database/database'
import { digestOfParts } from './digest.ts'

/** How long a code can be entered after it was sent, in milliseconds. */
export const codeMs = 10 * 60_000

export const codeDigits = 6

export function generateCode(): string {
  return String(randomInt(10 ** codeDigits)).padStart(codeDigits, '0')
}

/** How long a shared code is valid, and the shortest time between two emails with shared codes, in milliseconds. */
export const sharedCodeMs = 3_600_000

export const sharedCodeDigits = 16

/** Milliseconds after which a code is replaced if the process that claimed it died before it was sent. */
const sendingMs = 60_000

/** Returns a random code of 53 bits, which cannot be guessed by any number of browsers. */
export function generateSharedCode(): string {
  return Array.from({ length: sharedCodeDigits }, () => String(randomInt(10))).join('')
}

/*
 * When an email address has reached its limit of emails, it gets one code that all browsers share. So a person who
 * requests codes for another person's address cannot lock that person out: the owner has the shared code in the
 * mailbox.
 */

function sharedKeyOf(providerId: string, email: string): string {
  return digestOfParts(providerId, 'shared', email.toLowerCase())
}

function sharedDigestOf(providerId: string, email: string, code: string): string {
  return digestOfParts(providerId, 'shared', email.toLowerCase(), code)
}

type SharedCode = { readonly email: string; readonly code: string }

/**
 * Stores the code if the address has no valid shared code. Returns true if the code must be sent. Call
 * `extendSharedCode` after it was sent.
 */
export async function claimSharedCode(
  sql: Queryable,
  providerId: string,
  { email, code }: SharedCode,
  now: Date,
): Promise<boolean> {
  const digest = sharedDigestOf(providerId, email, code)
  const expiresAt = new Date(now.getTime() + sendingMs)
  const rows = await sql`
    insert into customer_sign_ins as kept
      (provider_id, browser_sha256, email, code_sha256, expires_at, created_at)
    values (${providerId}, ${sharedKeyOf(providerId, email)}, ${email}, ${digest}, ${expiresAt}, ${now})
    on conflict (browser_sha256) do update set email = excluded.email,
      code_sha256 = excluded.code_sha256, expires_at = excluded.expires_at,
      created_at = excluded.created_at
      where kept.expires_at <= ${now}
    returning 1`
  return rows.length === 1
}

export async function extendSharedCode(
  sql: Queryable,
  providerId: string,
  { email, code }: SharedCode,
  now: Date,
): Promise<void> {
  await sql`
    update customer_sign_ins set expires_at = ${new Date(now.getTime() + sharedCodeMs)}
    where browser_sha256 = ${sharedKeyOf(providerId, email)}
      and code_sha256 = ${sharedDigestOf(providerId, email, code)}`
}

/** Deletes a code that could not be sent. A newer code that replaced it in the meantime stays. */
export async function removeSharedCode(
  sql: Queryable,
  providerId: string,
  { email, code }: SharedCode,
): Promise<void> {
  await sql`
    delete from customer_sign_ins
    where browser_sha256 = ${sharedKeyOf(providerId, email)}
      and code_sha256 = ${sharedDigestOf(providerId, email, code)}`
}

/** Lets the browser enter the shared code of the address, if there is one. */
export async function joinSharedCode(
  sql: Queryable,
  providerId: string,
  { browserToken, email }: { readonly browserToken: string; readonly email: string },
  now: Date,
): Promise<void> {
  await sql`
    insert into customer_sign_ins
      (provider_id, browser_sha256, email, code_sha256, attempts, expires_at, created_at)
    select provider_id, ${digestOfParts(providerId, browserToken)}, ${email}, code_sha256, 0,
      ${new Date(now.getTime() + codeMs)}, ${now}
    from customer_sign_ins
    where browser_sha256 = ${sharedKeyOf(providerId, email)} and expires_at > ${now}
    on conflict (browser_sha256) do update set email = excluded.email,
      code_sha256 = excluded.code_sha256, attempts = 0, expires_at = excluded.expires_at,
      created_at = excluded.created_at`
}

/**
 * Stores the code that is sent to an email address. It replaces an earlier code of the same browser. The stored hash
 * includes the browser's token, so the code is not valid in another browser.
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

export type PendingSignIn = { readonly email: string; readonly isShared: boolean }

/** Returns the email address whose code the browser must enter, and whether it is the shared code. */
export async function findPendingSignIn(
  sql: Queryable,
  providerId: string,
  browserToken: string,
  now: Date,
): Promise<PendingSignIn | undefined> {
  const [row] = await sql<{ email: string; code_sha256: string }[]>`
    select email, code_sha256 from customer_sign_ins
    where browser_sha256 = ${digestOfParts(providerId, browserToken)} and expires_at > ${now}`
  if (row === undefined) return undefined
  const shared = await sql`
    select from customer_sign_ins where code_sha256 = ${row.code_sha256}
      and browser_sha256 = ${sharedKeyOf(providerId, row.email)}`
  return { email: row.email, isShared: shared.length > 0 }
}

export type CodeOutcome =
  | { readonly kind: 'right'; readonly email: string }
  | { readonly kind: 'wrong'; readonly attemptsLeft: number }
  /** The code has expired, was used, or too many wrong codes were entered. */
  | { readonly kind: 'none' }

/**
 * Counts the attempt and then compares the code. The count is one atomic statement, so of concurrent attempts at most
 * `attemptsMax` are compared.
 */
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
  // This compares digests that include a random token, so the timing reveals nothing about the code.
  const shared = sharedDigestOf(providerId, row.email, code)
  if (row.code_sha256 !== digestOfParts(browserToken, code) && row.code_sha256 !== shared) {
    return { kind: 'wrong', attemptsLeft: attemptsMax - row.attempts }
  }
  // A shared code is used up by the request that deletes the shared row. The rows of other browsers stay but are no
  // longer accepted.
  const key = row.code_sha256 === shared ? sharedKeyOf(providerId, row.email) : browser
  const used = await sql`
    delete from customer_sign_ins
    where browser_sha256 = ${key} and code_sha256 = ${row.code_sha256} returning 1`
  await sql`delete from customer_sign_ins where browser_sha256 = ${browser}`
  return used.length === 1 ? { kind: 'right', email: row.email } : { kind: 'none' }
}
