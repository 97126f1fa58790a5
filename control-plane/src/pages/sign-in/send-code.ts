import { countAuthAttempt } from '@tollgate/domain/customer-auth/attempts'
import { mailboxKey } from '@tollgate/domain/customer-auth/mailbox'
import {
  claimSharedCode,
  generateCode,
  generateSharedCode,
  joinSharedCode,
  extendSharedCode,
  removeSharedCode,
  saveSignIn,
} from '@tollgate/domain/customer-auth/sign-in-codes'
import { ProblemError, problems } from '../problem.tsx'
import type { SignInParts, Visitor } from './visitor.ts'
import { shownNameOf } from '../../customer-auth/client-metadata.ts'

/*
 * Anyone may enter any person's email address. The owner of the address must not get an unlimited number of emails, and must not be
 * locked out by a limit that another person used up. An attacker must not be able to guess a code. Therefore the first codes for an
 * address are short, and each works in one browser only. Above the limit, the address gets one long code per hour, which works in
 * every browser in which the address is entered. See docs/decisions/sign-in.md, Nobody locks an address out by requesting codes.
 */

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/**
 * Maximum number of windows of short codes that one mailbox may use up in a day. An attacker with many networks is limited only by
 * the codes of the mailbox: with the defaults to 300 guesses per day, among 1,000,000 codes.
 */
const windowsPerDay = 6

/**
 * Sends a code to the address, or lets the browser use the code that was already sent. Rejects if the mail server does not accept
 * the email.
 */
export async function sendCode(parts: SignInParts, visitor: Visitor, email: string): Promise<void> {
  if (await isShortCodeAllowed(parts, visitor, email)) await sendShortCode(parts, visitor, email)
  else await sendSharedCode(parts, visitor, email)
}

/**
 * Returns whether the address gets a short code. Emails to one mailbox are counted together for all providers of the environment,
 * and for all tags of its address.
 */
async function isShortCodeAllowed(
  { pages, auth }: SignInParts,
  { caller }: Visitor,
  email: string,
): Promise<boolean> {
  const { codesPerEmailMax: max, codeWindowMinutes } = auth.config
  const sql = pages.publisher.database.in(caller.environment)
  const now = new Date(pages.clock.now())
  const limits = [
    { kind: 'code-email', max, windowMs: codeWindowMinutes * 60_000 },
    { kind: 'code-email-day', max: max * windowsPerDay, windowMs: dayMs },
  ] as const
  for (const limit of limits) {
    const waitMs = await countAuthAttempt(sql, limit, mailboxKey(email), now)
    if (waitMs !== undefined) return false
  }
  return true
}

async function sendShortCode(parts: SignInParts, visitor: Visitor, email: string): Promise<void> {
  const { caller, browserToken, frame } = visitor
  const code = generateCode()
  const now = new Date(parts.pages.clock.now())
  await rowsOf(parts, visitor).write((sql) =>
    saveSignIn(sql, caller.providerId, { browserToken, email, code }, now),
  )
  const shown = { code, name: mailNameOf(frame.merchant?.name) }
  await parts.auth.mailer.send(caller, {
    recipient: email,
    subject: frame.t('signIn:mailSubject', shown),
    body: frame.t('signIn:mailText', shown),
  })
}

async function sendSharedCode(parts: SignInParts, visitor: Visitor, email: string): Promise<void> {
  const { caller, browserToken, frame } = visitor
  const { providerId } = caller
  const rows = rowsOf(parts, visitor)
  const shared = { email, code: generateSharedCode() }
  const now = new Date(parts.pages.clock.now())
  const isClaimed = await rows.write((sql) => claimSharedCode(sql, providerId, shared, now))
  if (isClaimed) {
    const shown = { code: groupDigits(shared.code), name: mailNameOf(frame.merchant?.name) }
    try {
      await requireTagsLeft(parts, visitor, email)
      await parts.auth.mailer.send(caller, {
        recipient: email,
        subject: frame.t('signIn:mailSubject', shown),
        body: frame.t('signIn:mailTextShared', shown),
      })
    } catch (error) {
      await rows.write((sql) => removeSharedCode(sql, providerId, shared))
      throw error
    }
    await rows.write((sql) => extendSharedCode(sql, providerId, shared, now))
  }
  await rows.write((sql) => joinSharedCode(sql, providerId, { browserToken, email }, now))
}

/**
 * Limits the emails to addresses with tags. A mailbox has any number of such addresses, so without a limit they could be used to
 * flood it. The address without a tag is never refused here.
 */
async function requireTagsLeft(
  { pages, auth }: SignInParts,
  { caller, frame }: Visitor,
  email: string,
): Promise<void> {
  if (!email.includes('+')) return
  const limit = { kind: 'code-tags', max: auth.config.codesPerEmailMax, windowMs: hourMs } as const
  const sql = pages.publisher.database.in(caller.environment)
  const waitMs = await countAuthAttempt(sql, limit, mailboxKey(email), new Date(pages.clock.now()))
  if (waitMs !== undefined) throw new ProblemError(problems.tooManyAttempts, frame)
}

/** Formats the code in groups of 4 digits. Spaces are removed when the code is read. */
function groupDigits(code: string): string {
  return code.replaceAll(/\d{4}(?=\d)/g, '$& ')
}

function rowsOf({ pages }: SignInParts, { caller }: Visitor) {
  return pages.database.of(caller.providerId).in(caller.environment)
}

const mailNameCharsMax = 80

/**
 * Returns the provider's name for emails: one line of visible text that no mail program turns into a link. A person can request a
 * code for the address of another person, so the email must not contain an address that the provider chose.
 */
export function mailNameOf(name: string | undefined): string {
  const line = shownNameOf(name) ?? ''
  const unlinked = line
    .replaceAll(/\s*:\/\/\s*/g, ' ')
    .replaceAll(/:(?=\S)/g, ': ')
    // Mail programs recognize an address by full stops between letters. This character looks the same.
    .replaceAll(/(?<=\S)[.\u3002\uff0e\uff61](?=\S)/g, '\u2024')
    .replaceAll(/(?<=\S)@(?=\S)/g, ' @ ')
  return Array.from(unlinked).slice(0, mailNameCharsMax).join('').trim()
}
