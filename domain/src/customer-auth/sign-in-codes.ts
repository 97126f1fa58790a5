import { randomInt } from 'node:crypto'
import type { Queryable } from '@tollgate/platform/database/database'
import { digestOfParts } from './digest.ts'

/** How long a code can be entered after it was sent. */
export const codeMs = 10 * 60_000

export const codeDigits = 6

export function drawCode(): string {
  return String(randomInt(10 ** codeDigits)).padStart(codeDigits, '0')
}

/** How long a shared code lasts, and how far apart the emails with such codes are. */
export const sharedCodeMs = 3_600_000

export const sharedCodeDigits = 16

/** A code that a process claimed and died before it sent it is replaced after this time. */
const sendingMs = 60_000

/** Too long to be guessed, whatever the number of browsers: 53 bits. */
export function drawSharedCode(): string {
  return Array.from({ length: sharedCodeDigits }, () => String(randomInt(10))).join('')
}

/*
 * Beyond its limit of emails, an address has one code that all browsers share in which the address is entered. Somebody who
 * requests codes for the address of another person changes nothing for that person, who has the code in the mailbox.
 */

function sharedKeyOf(providerId: string, email: string): string {
  return digestOfParts(providerId, 'shared', email.toLowerCase())
}

function sharedDigestOf(providerId: string, email: string, code: string): string {
  return digestOfParts(providerId, 'shared', email.toLowerCase(), code)
}

type SharedCode = { readonly email: string; readonly code: string }

/** Returns true if the code is to be sent: the address has no other one. Call `prolongSharedCode` once it was sent. */
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

export async function prolongSharedCode(
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

/** For a code that could not be sent. One that replaced it meanwhile stays. */
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

export type PendingSignIn = { readonly email: string; readonly isShared: boolean }

/** Returns the email address whose code the browser is asked for, and whether that is the shared code. */
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
  const shared = sharedDigestOf(providerId, row.email, code)
  if (row.code_sha256 !== digestOfParts(browserToken, code) && row.code_sha256 !== shared) {
    return { kind: 'wrong', attemptsLeft: attemptsMax - row.attempts }
  }
  // A shared code is used up by whoever removes its own row. The rows of other browsers stay, and open nothing.
  const key = row.code_sha256 === shared ? sharedKeyOf(providerId, row.email) : browser
  const used = await sql`
    delete from customer_sign_ins
    where browser_sha256 = ${key} and code_sha256 = ${row.code_sha256} returning 1`
  await sql`delete from customer_sign_ins where browser_sha256 = ${browser}`
  return used.length === 1 ? { kind: 'right', email: row.email } : { kind: 'none' }
}
