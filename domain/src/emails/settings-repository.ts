import type { Queryable } from '@tollgate/platform/database/database'
import type { EmailKind } from '@tollgate/schemas/http/emails'
import { changedColumns, fromColumns } from '../postgres/field-columns.ts'

/** What a provider has decided about emails to its customers. */
export type EmailSettings = {
  /** The kinds that are sent. */
  readonly kinds: readonly EmailKind[]
  /** Null: the name of the provider. */
  readonly senderName: string | null
  /** Null: the support address of the provider. */
  readonly replyTo: string | null
  /** Language for customers without one, such as `pt-BR`. Null: English. */
  readonly locale: string | null
  /** The only addresses to which a mail server gets emails of the sandbox. */
  readonly sandboxRecipients: readonly string[]
}

export type EmailSettingsChange = {
  readonly [Field in keyof EmailSettings]?: EmailSettings[Field] | undefined
}

/** A provider that has decided nothing sends nothing. */
const noEmails: EmailSettings = {
  kinds: [],
  senderName: null,
  replyTo: null,
  locale: null,
  sandboxRecipients: [],
}

export async function findEmailSettings(
  sql: Queryable,
  providerId: string,
): Promise<EmailSettings> {
  const [row] = await sql`select * from email_settings where provider_id = ${providerId}`
  return row === undefined ? noEmails : fromColumns<EmailSettings>(columns, row)
}

const columns = {
  kinds: 'kinds',
  senderName: 'sender_name',
  replyTo: 'reply_to',
  locale: 'locale',
  sandboxRecipients: 'sandbox_recipients',
} as const satisfies Record<keyof EmailSettings, string>

/** Changes only the given fields, in one statement. */
export async function changeEmailSettings(
  sql: Queryable,
  providerId: string,
  change: EmailSettingsChange,
  now: Date,
): Promise<void> {
  const changed = { ...changedColumns<EmailSettings>(columns, change), updated_at: now }
  await sql`
    insert into email_settings ${sql({ ...changed, provider_id: providerId })}
    on conflict (provider_id) do update set ${sql(changed)}`
}
