import { countAuthAttempt } from '@tollgate/domain/customer-auth/attempts'
import { mailboxOf } from '@tollgate/domain/customer-auth/mailbox'
import {
  claimSharedCode,
  drawCode,
  drawSharedCode,
  joinSharedCode,
  prolongSharedCode,
  removeSharedCode,
  saveSignIn,
} from '@tollgate/domain/customer-auth/sign-in-codes'
import { ProblemError, problems } from '../problem.tsx'
import { mailNameOf } from './mail-name.ts'
import type { SignInParts, Visitor } from './visitor.ts'

/*
 * Anybody may enter the address of anybody. The owner must neither get any number of emails, nor be locked out by a limit that
 * somebody else used up, and nobody may guess a code. So the first codes for an address are short, and each is for one browser.
 * Beyond the limit, one long code an hour goes to the address, for every browser in which the address is entered.
 * See docs/decisions/sign-in.md, Nobody locks an address out by requesting codes.
 */

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/**
 * How many windows of short codes one mailbox may use up in a day. Whoever guesses from many networks is limited by the codes of
 * the mailbox alone: with the defaults to 300 guesses in any day, of a million codes.
 */
const windowsPerDay = 6

/** Sends a code to the address, or lets the browser use the one that was sent. Rejects if the mail server does not take it. */
export async function sendCode(parts: SignInParts, visitor: Visitor, email: string): Promise<void> {
  if (await mayHaveShortCode(parts, visitor, email)) await sendShortCode(parts, visitor, email)
  else await sendSharedCode(parts, visitor, email)
}

/** Emails to one mailbox are counted for all providers of the environment together, whatever tags its address has. */
async function mayHaveShortCode(
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
    const waitMs = await countAuthAttempt(sql, limit, mailboxOf(email), now)
    if (waitMs !== undefined) return false
  }
  return true
}

async function sendShortCode(parts: SignInParts, visitor: Visitor, email: string): Promise<void> {
  const { caller, browserToken, frame } = visitor
  const code = drawCode()
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
  const shared = { email, code: drawSharedCode() }
  const now = new Date(parts.pages.clock.now())
  const isClaimed = await rows.write((sql) => claimSharedCode(sql, providerId, shared, now))
  if (isClaimed) {
    const shown = { code: inGroups(shared.code), name: mailNameOf(frame.merchant?.name) }
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
    await rows.write((sql) => prolongSharedCode(sql, providerId, shared, now))
  }
  await rows.write((sql) => joinSharedCode(sql, providerId, { browserToken, email }, now))
}

/** A mailbox has any number of addresses with tags, and must not be filled through them. Its address without one is never refused. */
async function requireTagsLeft(
  { pages, auth }: SignInParts,
  { caller, frame }: Visitor,
  email: string,
): Promise<void> {
  if (!email.includes('+')) return
  const limit = { kind: 'code-tags', max: auth.config.codesPerEmailMax, windowMs: hourMs } as const
  const sql = pages.publisher.database.in(caller.environment)
  const waitMs = await countAuthAttempt(sql, limit, mailboxOf(email), new Date(pages.clock.now()))
  if (waitMs !== undefined) throw new ProblemError(problems.tooManyAttempts, frame)
}

/** Four digits each, as on a card. Spaces are left out when the code is read. */
function inGroups(code: string): string {
  return code.replaceAll(/\d{4}(?=\d)/g, '$& ')
}

function rowsOf({ pages }: SignInParts, { caller }: Visitor) {
  return pages.database.of(caller.providerId).in(caller.environment)
}
