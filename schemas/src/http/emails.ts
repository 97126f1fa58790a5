import { z } from 'zod'
import {
  emailText,
  longText,
  oneLineName,
  optionalReference,
  pageQuery,
  shortText,
} from './fields.ts'
import { pageLanguages } from './page-locale.ts'
import { strictBody } from './strict-body.ts'

/* Schemas of emails to customers: `/v1/ui/email-settings`, `/v1/ui/emails`, `/v1/ui/email-previews`, `/v1/ui/email-suppressions`. */

export const emailKinds = [
  'receipt',
  'renewal_upcoming',
  'trial_ending',
  'payment_failed',
  'plan_changed',
  'budget_reached',
  'credits_expiring',
] as const

export type EmailKind = (typeof emailKinds)[number]

/** Kinds from which a customer can unsubscribe. The others belong to the contract with the customer. */
export const noticeKinds: ReadonlySet<EmailKind> = new Set(['budget_reached', 'credits_expiring'])

export const emailStates = ['pending', 'sending', 'sent', 'unknown', 'failed', 'skipped'] as const

export type EmailState = (typeof emailStates)[number]

/** A language of the hosted pages, with or without a region. */
export const emailLocale = z
  .string()
  .regex(new RegExp(`^(?:${pageLanguages.join('|')})(?:[-_][A-Za-z]{2})?$`), {
    error: `Expected one of ${pageLanguages.join(', ')}, with or without a region, such as pt-BR`,
  })

const sandboxRecipientsMax = 20

const emailSettings = {
  kinds: z
    .array(z.enum(emailKinds))
    .max(emailKinds.length)
    .describe('The kinds of email that customers get. Empty: none'),
  senderName: oneLineName
    .nullable()
    .describe(
      'Name of the sender. Null: the name of the provider. The address is that of the operator',
    ),
  replyTo: emailText
    .nullable()
    .describe('Address for answers. Null: the support address of the provider'),
  locale: emailLocale
    .nullable()
    .describe('Language for customers without a `locale` of their own. Null: English'),
  sandboxRecipients: z
    .array(emailText)
    .max(sandboxRecipientsMax)
    .describe('The only addresses to which a mail server gets emails of the sandbox'),
}

export const emailTransports = ['smtp', 'inbox', 'none'] as const

export const emailSettingsSchema = z.object({
  ...emailSettings,
  transport: z
    .enum(emailTransports)
    .describe(
      'Where emails of this installation go: `smtp` to its mail server, `inbox` to the page `/inbox` instead, `none` nowhere, because the operator has configured neither',
    ),
})

export type EmailSettingsBody = z.infer<typeof emailSettingsSchema>

/** Only the given fields change. Unknown fields are refused. */
export const emailSettingsUpdateSchema = strictBody({
  kinds: emailSettings.kinds.optional(),
  senderName: emailSettings.senderName.optional(),
  replyTo: emailSettings.replyTo.optional(),
  locale: emailSettings.locale.optional(),
  sandboxRecipients: emailSettings.sandboxRecipients.optional(),
})

export const emailsQuerySchema = z.object({
  limit: pageQuery.limit,
  kind: z.enum(emailKinds).optional(),
  state: z.enum(emailStates).optional(),
  customerRef: optionalReference.optional(),
  before: optionalReference.optional().describe('Id of an email. Only older emails are returned'),
})

export const emailSchema = z.object({
  id: z.string(),
  kind: z.enum(emailKinds),
  eventId: z.string(),
  customerRef: z.string().optional(),
  state: z
    .enum(emailStates)
    .describe(
      '`pending`: is sent when it is due. `sending`: is being handed to the mail server. `sent`: the mail server accepted it. `unknown`: it was handed over and the answer did not arrive, so it is not sent again by itself. `failed`: the mail server refused it. `skipped`: it was not sent',
    ),
  reason: z
    .string()
    .optional()
    .describe(
      'Skipped: `no-transport`, `no-address`, `suppressed`, `unsubscribed`, `sandbox`, `not-chosen`, `outdated` or `no-event`. Failed: `address-refused`, `message-refused`, `bad-address` or `attempts`. Unknown: `timeout`, `cut-off` or `interrupted`. Pending: `requested`, or why the last attempt failed: `unreachable`, `timeout`, `tls`, `login`, `deferred`, `error` or `unprepared`',
    ),
  recipient: z.string().optional().describe('Address of the last attempt'),
  answer: z.string().optional().describe('Last answer of the mail server'),
  attempts: z.int(),
  dueAt: z.string().optional().describe('When a pending email is sent'),
  createdAt: z.string(),
  finishedAt: z.string().optional(),
})

export type EmailBody = z.infer<typeof emailSchema>

/** If `hasMore` is true, repeat the request with the id of the last email as `before`. */
export const emailsResponseSchema = z.object({
  emails: z.array(emailSchema),
  hasMore: z.boolean(),
})

export const emailPreviewQuerySchema = z.object({
  locale: emailLocale.optional().describe('Default: the language of the email settings'),
})

export const emailPreviewSchema = z.object({
  kind: z.enum(emailKinds),
  locale: z.string(),
  from: z.string(),
  subject: z.string(),
  text: z.string(),
  html: z.string(),
})

export type EmailPreviewBody = z.infer<typeof emailPreviewSchema>

export const suppressionReasons = ['bounced', 'complained', 'manual', 'unsubscribed'] as const

export type SuppressionReason = (typeof suppressionReasons)[number]

const reasonText =
  '`unsubscribed` stops only the kinds that a customer can unsubscribe from, the other reasons stop all'

export const emailSuppressionCreateSchema = z.object({
  email: emailText,
  reason: z.enum(suppressionReasons).default('manual').describe(reasonText),
  detail: longText.optional(),
})

export const emailSuppressionSchema = z.object({
  id: z.string(),
  email: z.string().describe('In lower case'),
  reason: z.enum(suppressionReasons).describe(reasonText),
  detail: z.string().optional(),
  createdAt: z.string(),
})

export type EmailSuppressionBody = z.infer<typeof emailSuppressionSchema>

export const emailSuppressionsQuerySchema = z.object({
  ...pageQuery,
  email: shortText.optional().describe('Only suppressions of this address'),
})

export const emailSuppressionsPageSchema = z.object({
  suppressions: z.array(emailSuppressionSchema),
  total: z.int(),
  limit: z.int(),
  offset: z.int(),
})
