import { randomUUID } from 'node:crypto'
import type { Queryable } from '@tollgate/platform/database/database'

/** An email of an installation that does not send emails. */
export type InboxMessage = {
  readonly recipient: string
  readonly subject: string
  readonly body: string
  readonly createdAt: Date
}

export async function addToInbox(
  sql: Queryable,
  providerId: string,
  { recipient, subject, body, createdAt }: InboxMessage,
): Promise<void> {
  await sql`
    insert into inbox_messages (provider_id, message_id, recipient, subject, body, created_at)
    values (${providerId}, ${randomUUID()}, ${recipient}, ${subject}, ${body}, ${createdAt})`
}

const messagesMax = 50

/** Returns the newest messages of every provider whose rows `sql` sees. */
export async function listInbox(sql: Queryable): Promise<InboxMessage[]> {
  const rows = await sql<(Omit<InboxMessage, 'createdAt'> & { created_at: Date })[]>`
    select recipient, subject, body, created_at from inbox_messages
    order by created_at desc limit ${messagesMax}`
  return rows.map(({ created_at: createdAt, ...row }) => ({ ...row, createdAt }))
}
