import type { Queryable } from '@tollgate/platform/database/database'
import type { SuppressionReason } from '@tollgate/schemas/http/emails'
import { selectPage, type PageRange } from '../postgres/select-page.ts'
import { generateReference } from '../unit-of-work/generate-reference.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'

/** An address that gets no more emails, or no more notices. */
export type EmailSuppression = {
  readonly reference: string
  /** In lower case. */
  readonly email: string
  readonly reason: SuppressionReason
  readonly detail: string | null
  readonly createdAt: Date
}

type SuppressionRow = {
  reference: string
  email: string
  reason: SuppressionReason
  detail: string | null
  created_at: Date
}

/**
 * Suppresses the address. An address has at most one suppression for all emails and one for notices. Returns the one that exists
 * already, if there is one.
 */
export async function suppressAddress(
  { sql, providerId, now }: Pick<UnitOfWork, 'sql' | 'providerId' | 'now'>,
  { email, reason, detail }: Pick<EmailSuppression, 'email' | 'reason' | 'detail'>,
): Promise<EmailSuppression> {
  const reference = generateReference('emailSuppression')
  await sql`
    insert into email_suppressions (provider_id, reference, email, reason, detail, created_at)
    values (${providerId}, ${reference}, lower(${email}), ${reason}, ${detail}, ${now})
    on conflict do nothing`
  const [row] = await sql<SuppressionRow[]>`
    select * from email_suppressions
    where provider_id = ${providerId} and email = lower(${email})
      and (reason = 'unsubscribed') = ${reason === 'unsubscribed'}`
  return fromRow(row!)
}

/** Returns the suppressions of the address: at most one for all emails and one for notices. */
export async function findSuppressions(
  sql: Queryable,
  providerId: string,
  email: string,
): Promise<EmailSuppression[]> {
  const rows = await sql<SuppressionRow[]>`
    select * from email_suppressions where provider_id = ${providerId} and email = lower(${email})`
  return rows.map(fromRow)
}

export type SuppressionFilter = PageRange & { readonly email: string | undefined }

/** Returns suppressions, newest first. */
export async function listSuppressions(
  sql: Queryable,
  providerId: string,
  { email, ...page }: SuppressionFilter,
): Promise<{ suppressions: EmailSuppression[]; total: number }> {
  const isOfEmail = email === undefined ? sql`` : sql`and email = lower(${email})`
  const { rows, total } = await selectPage<SuppressionRow>(
    sql,
    sql`from email_suppressions where provider_id = ${providerId} ${isOfEmail}`,
    sql`created_at desc, reference`,
    page,
  )
  return { suppressions: rows.map(fromRow), total }
}

/** Returns false if there is no such suppression. */
export async function removeSuppression(
  sql: Queryable,
  providerId: string,
  reference: string,
): Promise<boolean> {
  const removed = await sql`
    delete from email_suppressions where provider_id = ${providerId} and reference = ${reference}`
  return removed.count > 0
}

function fromRow(row: SuppressionRow): EmailSuppression {
  const { reference, email, reason, detail, created_at: createdAt } = row
  return { reference, email, reason, detail, createdAt }
}
