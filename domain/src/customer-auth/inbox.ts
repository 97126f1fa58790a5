import { randomUUID } from 'node:crypto'
import type { Queryable } from '@tollgate/platform/database/database'

/** A file of an email. */
export type InboxAttachment = { readonly fileName: string; readonly pdf: Buffer }

/** An email of an installation that does not send emails. */
export type InboxMessage = {
  readonly recipient: string
  readonly subject: string
  /** The text part. */
  readonly body: string
  /** The HTML part. Null for emails that have only text. */
  readonly html: string | null
  readonly attachment: InboxAttachment | null
  readonly createdAt: Date
}

export async function addToInbox(
  sql: Queryable,
  providerId: string,
  { recipient, subject, body, html, attachment, createdAt }: InboxMessage,
): Promise<void> {
  await sql`
    insert into inbox_messages
      (provider_id, message_id, recipient, subject, body, html, attachment_name, attachment, created_at)
    values (${providerId}, ${randomUUID()}, ${recipient}, ${subject}, ${body}, ${html},
      ${attachment?.fileName ?? null}, ${attachment?.pdf ?? null}, ${createdAt})`
}

/** A message as the list shows it. */
export type ListedMessage = Pick<InboxMessage, 'recipient' | 'subject' | 'body' | 'createdAt'> & {
  readonly messageId: string
  readonly hasHtml: boolean
  readonly attachmentName: string | null
}

type ListedRow = {
  message_id: string
  recipient: string
  subject: string
  body: string
  has_html: boolean
  attachment_name: string | null
  created_at: Date
}

const messagesMax = 50

/** Returns the newest messages of every provider whose rows `sql` sees. */
export async function listInbox(sql: Queryable): Promise<ListedMessage[]> {
  const rows = await sql<ListedRow[]>`
    select message_id, recipient, subject, body, html is not null as has_html, attachment_name, created_at
    from inbox_messages order by created_at desc limit ${messagesMax}`
  return rows.map((row) => ({
    messageId: row.message_id,
    recipient: row.recipient,
    subject: row.subject,
    body: row.body,
    hasHtml: row.has_html,
    attachmentName: row.attachment_name,
    createdAt: row.created_at,
  }))
}

/** Returns the HTML part and the attachment of a message of any provider. */
export async function findInboxMessage(
  sql: Queryable,
  messageId: string,
): Promise<Pick<InboxMessage, 'html' | 'attachment'> | undefined> {
  const [row] = await sql<
    { html: string | null; attachment_name: string | null; attachment: Buffer | null }[]
  >`
    select html, attachment_name, attachment from inbox_messages where message_id = ${messageId}`
  if (row === undefined) return undefined
  const { html, attachment_name: fileName, attachment: pdf } = row
  return { html, attachment: fileName === null || pdf === null ? null : { fileName, pdf } }
}

/** Deletes all but the newest messages. */
export async function trimInbox(sql: Queryable, keptMax: number): Promise<void> {
  await sql`
    delete from inbox_messages where message_id in (
      select message_id from inbox_messages order by created_at desc, message_id offset ${keptMax})`
}
