import type { Queryable } from '@tollgate/platform/database/database'
import type { EmailKind } from '@tollgate/schemas/http/emails'
import { storedAnswer, type ClaimedEmail, type EmailOutcome } from './email.ts'

/*
 * The queue of emails. SMTP has no idempotency: an email that a mail server accepted must never be handed over again. So a claim
 * alone permits nothing. Immediately before the text is handed over, `beginSending` commits that it may have arrived. From then on
 * only a person makes another attempt, unless the mail server's answer shows that it did not accept the email.
 */

type ClaimedRow = {
  provider_id: string
  reference: string
  event_id: string
  kind: EmailKind
  customer_ref: string | null
  attempts: number
  claim: number
  token: string
  created_at: Date
  requested_at: Date | null
}

export type EmailClaim = {
  readonly now: Date
  readonly leasedUntil: Date
  readonly emailsMax: number
}

/**
 * Claims due emails until `leasedUntil`, the longest due first. Emails of a claim whose process died are claimed again after its
 * lease. It is one statement, so no transaction is open while the emails are sent.
 *
 * Commits without waiting for the disk. A claim that PostgreSQL loses in a crash never happened.
 */
export async function claimEmails(
  sql: Queryable,
  { now, leasedUntil, emailsMax }: EmailClaim,
): Promise<ClaimedEmail[]> {
  const rows = await sql<ClaimedRow[]>`
    with async_commit as materialized (select set_config('synchronous_commit', 'off', true)),
    due as (
      select sequence from emails
      where state = 'pending' and due_at <= ${now} and (leased_until is null or leased_until <= ${now})
      order by due_at, sequence limit ${emailsMax} for update skip locked
    )
    update emails set claim = claim + 1, leased_until = ${leasedUntil}
    from due, async_commit where emails.sequence = due.sequence
    returning emails.*`
  return rows.map((row) => ({
    providerId: row.provider_id,
    reference: row.reference,
    eventId: row.event_id,
    kind: row.kind,
    customerRef: row.customer_ref,
    attempts: row.attempts,
    claim: row.claim,
    token: row.token,
    createdAt: row.created_at,
    wantedAt: row.requested_at ?? row.created_at,
    isRequested: row.requested_at !== null,
  }))
}

/** Ends the lease of a claim without an attempt, so that the email is claimed again at once. */
export async function releaseEmail(
  sql: Queryable,
  { reference, claim }: Pick<ClaimedEmail, 'reference' | 'claim'>,
): Promise<void> {
  await sql`
    update emails set leased_until = null
    where reference = ${reference} and claim = ${claim} and state = 'pending'`
}

/**
 * Records that the email is handed to the mail server from now on. Returns false if the claim is no longer the last one, or the
 * customer was deleted: the email must then not be handed over. Resolves after the commit has reached the disk. If the process dies later, the email becomes
 * `unknown` when the lease ends.
 */
export async function beginSending(
  sql: Queryable,
  { reference, claim }: Pick<ClaimedEmail, 'reference' | 'claim'>,
  recipient: string,
  leasedUntil: Date,
): Promise<boolean> {
  const begun = await sql`
    update emails set state = 'sending', recipient = ${recipient}, leased_until = ${leasedUntil}
    where reference = ${reference} and claim = ${claim} and state = 'pending' and not is_erased`
  return begun.count === 1
}

/**
 * Records the outcome of a claim and the address of the attempt. Without an address, that of an earlier attempt stays, whose email has
 * a link to unsubscribe. Returns false if the email was claimed again since, which leaves it unchanged. A late outcome
 * replaces `unknown`, unless a person has already had the email sent again. An email that is sent again later gets another number,
 * so that a `beginSending` of this claim that PostgreSQL executes late changes nothing.
 */
export async function finishEmail(
  sql: Queryable,
  { reference, claim }: Pick<ClaimedEmail, 'reference' | 'claim'>,
  outcome: EmailOutcome,
  recipient: string | null,
  now: Date,
): Promise<boolean> {
  const isPending = outcome.kind === 'pending'
  const answer = 'answer' in outcome ? storedAnswer(outcome.answer) : null
  const finished = await sql`
    update emails set state = ${outcome.kind}, leased_until = null,
      claim = ${isPending ? sql`claim + 1` : sql`claim`},
      attempts = attempts + ${outcome.kind === 'skipped' || outcome.kind === 'unknown' ? 0 : 1},
      reason = ${'reason' in outcome ? outcome.reason : null},
      answer = case when is_erased then null else ${answer} end,
      recipient = case when is_erased then null else coalesce(${recipient}, recipient) end,
      due_at = ${isPending ? outcome.dueAt : sql`due_at`},
      finished_at = ${isPending ? null : now}
    where reference = ${reference} and claim = ${claim} and state in ('pending', 'sending', 'unknown')`
  return finished.count === 1
}

/**
 * Returns whether the customer of the email was not deleted. A deletion waits until the transaction has ended, and then removes what
 * the transaction stored of the address.
 */
export async function lockUnerased(
  sql: Queryable,
  { reference }: Pick<ClaimedEmail, 'reference'>,
): Promise<boolean> {
  const rows = await sql`
    select 1 from emails where reference = ${reference} and not is_erased for no key update`
  return rows.length === 1
}

/** Marks emails whose process died while it handed them over. Returns their number. */
export async function markUnknown(sql: Queryable, now: Date): Promise<number> {
  const marked = await sql`
    update emails set state = 'unknown', reason = 'interrupted', leased_until = null, finished_at = ${now}
    where state = 'sending' and leased_until <= ${now}`
  return marked.count
}

/** Deletes emails that were finished before the given time, `rowsMax` at a time. Returns their number. */
export async function deleteOldEmails(
  sql: Queryable,
  finishedBefore: Date,
  rowsMax: number,
): Promise<number> {
  const deleted = await sql`
    delete from emails where sequence in (
      select sequence from emails where finished_at < ${finishedBefore} limit ${rowsMax})`
  return deleted.count
}

export type WaitingEmails = { readonly emails: number; readonly oldestAgeSeconds: number }

/** Returns how many emails are due, and for how long the oldest of them has been due. */
export async function countDueEmails(sql: Queryable, now: Date): Promise<WaitingEmails> {
  const [row] = await sql<{ emails: number; oldest: Date | null }[]>`
    select count(*)::int as emails, min(due_at) as oldest from emails
    where state = 'pending' and due_at <= ${now}`
  const { emails, oldest } = row!
  const ageMs = oldest === null ? 0 : now.getTime() - oldest.getTime()
  return { emails, oldestAgeSeconds: Math.max(0, ageMs / 1_000) }
}
