import type { Queryable } from '@tollgate/platform/database/database'
import type { EmailKind, EmailState } from '@tollgate/schemas/http/emails'
import type { Customer } from '../customers/repository.ts'
import type { Email } from './email.ts'

type EmailRow = {
  reference: string
  kind: EmailKind
  event_id: string
  customer_ref: string | null
  state: EmailState
  attempts: number
  due_at: Date
  recipient: string | null
  reason: string | null
  answer: string | null
  created_at: Date
  finished_at: Date | null
}

export type EmailFilter = {
  readonly kind: EmailKind | undefined
  readonly state: EmailState | undefined
  readonly customerRef: string | undefined
  /** Only emails that are older than this one. */
  readonly before: string | undefined
  readonly rowsMax: number
}

/** Returns emails, newest first. */
export async function listEmails(
  sql: Queryable,
  providerId: string,
  { kind, state, customerRef, before, rowsMax }: EmailFilter,
): Promise<Email[]> {
  const rows = await sql<EmailRow[]>`
    select * from emails where provider_id = ${providerId}
      ${kind === undefined ? sql`` : sql`and kind = ${kind}`}
      ${state === undefined ? sql`` : sql`and state = ${state}`}
      ${customerRef === undefined ? sql`` : sql`and customer_ref = ${customerRef}`}
      ${
        before === undefined
          ? sql``
          : sql`and (created_at, sequence) < (
              select created_at, sequence from emails
              where provider_id = ${providerId} and reference = ${before})`
      }
    order by created_at desc, sequence desc limit ${rowsMax}`
  return rows.map(fromRow)
}

export async function findEmail(
  sql: Queryable,
  providerId: string,
  reference: string,
): Promise<Email | undefined> {
  const [row] = await sql<EmailRow[]>`
    select * from emails where provider_id = ${providerId} and reference = ${reference}`
  return row === undefined ? undefined : fromRow(row)
}

/** States from which a person may have an email sent again. */
const resendableStates: readonly EmailState[] = ['unknown', 'failed', 'skipped']

/**
 * Queues the email again, with the same Message-ID. Returns undefined if its state does not allow it. The number of the claim is
 * raised, so that a late outcome of an earlier attempt changes nothing.
 */
export async function requeueEmail(
  sql: Queryable,
  providerId: string,
  reference: string,
  now: Date,
): Promise<Email | undefined> {
  const [row] = await sql<EmailRow[]>`
    update emails set state = 'pending', claim = claim + 1, leased_until = null, attempts = 0,
      due_at = ${now}, finished_at = null, reason = 'requested', requested_at = ${now}
    where provider_id = ${providerId} and reference = ${reference}
      and state = any(${[...resendableStates]}::text[])
    returning *`
  return row === undefined ? undefined : fromRow(row)
}

export type TokenOwner = {
  readonly providerId: string
  readonly kind: EmailKind
  readonly customerRef: string | null
  readonly recipient: string | null
}

/** Finds the email of a link. The link names no provider, so `sql` sees the emails of all providers. */
export async function locateEmailByToken(
  sql: Queryable,
  token: string,
): Promise<TokenOwner | undefined> {
  const [row] = await sql<(EmailRow & { provider_id: string })[]>`
    select * from emails where token = ${token}`
  if (row === undefined) return undefined
  const { provider_id: providerId, kind, customer_ref: customerRef, recipient } = row
  return { providerId, kind, customerRef, recipient }
}

/**
 * Erases the customer's addresses from emails and suppressions, and skips emails that were not sent. The rows of emails stay. Run it
 * before the address for invoices is removed. The suppression of an address that another customer has too stays, because it is also
 * that customer's decision.
 *
 * Emails are kept for some real time, so one is not finished later than now, also if the customer is deleted at the time of a clock.
 */
export async function eraseCustomerEmails(
  sql: Queryable,
  providerId: string,
  { reference: customerRef, email }: Pick<Customer, 'reference' | 'email'>,
  now: Date,
): Promise<void> {
  await sql`
    update emails set state = 'skipped', reason = 'no-address', claim = claim + 1,
      leased_until = null, finished_at = least(${now}::timestamptz, now())
    where provider_id = ${providerId} and customer_ref = ${customerRef} and state = 'pending'`
  await sql`
    update emails set recipient = null, answer = null, is_erased = true
    where provider_id = ${providerId} and customer_ref = ${customerRef}`
  // After the emails: a transaction that suppresses a bounced address has locked its email.
  await sql`
    delete from email_suppressions suppression where provider_id = ${providerId}
      and (email = lower(${email}) or email in (
        select lower(own.email) from customer_tax_details own
        where own.provider_id = ${providerId} and own.customer_ref = ${customerRef}))
      and not exists (
        select from customers other
        where other.provider_id = ${providerId} and other.reference <> ${customerRef}
          and other.status = 'active' and other.email_key = suppression.email)
      and not exists (
        select from customer_tax_details other
        where other.provider_id = ${providerId} and other.customer_ref <> ${customerRef}
          and lower(other.email) = suppression.email)`
}

function fromRow(row: EmailRow): Email {
  return {
    reference: row.reference,
    kind: row.kind,
    eventId: row.event_id,
    customerRef: row.customer_ref,
    state: row.state,
    attempts: row.attempts,
    dueAt: row.due_at,
    recipient: row.recipient,
    reason: row.reason,
    answer: row.answer,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
  }
}
