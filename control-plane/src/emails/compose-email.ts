import type { Customer } from '@tollgate/domain/customers/repository'
import type { EmailSettings } from '@tollgate/domain/emails/settings-repository'
import { noticeKinds } from '@tollgate/schemas/http/emails'
import type { Caller } from '../access/caller.ts'
import type { ReadParts } from '../access/read.ts'
import { shownNameOf } from '../customer-auth/client-metadata.ts'
import { shownMerchantOf } from '../pages/frame.ts'
import { readerOf } from '../pages/reader.ts'
import { mailNameOf } from '../pages/sign-in/send-code.ts'
import { contentOf, type FactsOfEmail } from './email-content.ts'
import { htmlOf, textOf, type EmailFrame } from './email-layout.tsx'
import type { ComposedEmail } from './message.ts'

export type SenderParts = ReadParts & {
  /** Address of the hosted pages without a trailing slash. */
  readonly hostedUrl: string
  /** Path before all paths of this service. */
  readonly basePath: string
}

/** The provider as the sender of an email. */
export type Sender = EmailFrame['merchant'] & {
  readonly fromName: string
  readonly replyTo: string | null
}

export async function readSender(
  parts: SenderParts,
  caller: Caller,
  settings: EmailSettings,
): Promise<Sender> {
  const shown = await shownMerchantOf(parts, caller)
  if (shown === undefined) throw new Error(`there is no provider ${caller.providerId}`)
  const name = shownNameOf(shown.name) ?? ''
  return {
    name,
    legalName: shownNameOf(shown.legalName) ?? name,
    accentColor: shown.accentColor,
    logoUrl: shown.logo === null ? null : new URL(shown.logo, parts.hostedUrl).href,
    supportEmail: shown.supportEmail,
    address: shown.address?.split('\n') ?? [],
    fromName: shownNameOf(settings.senderName ?? undefined) ?? name,
    replyTo: settings.replyTo ?? shown.supportEmail,
  }
}

export type EmailInput = {
  readonly facts: FactsOfEmail
  readonly sender: Sender
  readonly settings: Pick<EmailSettings, 'locale'>
  readonly customer: Pick<Customer, 'name' | 'locale'>
  readonly isSandbox: boolean
  /** Address of the link to the portal, which receipts do not have. */
  readonly accountUrl: string
  /** How long that link is valid, in milliseconds. */
  readonly accountMs: number
  /** Address at which the customer unsubscribes, which only notices have. */
  readonly unsubscribeUrl: string
}

type Composed = Pick<
  ComposedEmail,
  'fromName' | 'replyTo' | 'subject' | 'text' | 'html' | 'unsubscribeUrl'
>

/** Returns the words of an email in the language of the customer, otherwise in that of the provider, otherwise in English. */
export function composeEmail(input: EmailInput): Composed {
  const { facts, sender, settings, customer } = input
  const unsubscribeUrl = noticeKinds.has(facts.kind) ? input.unsubscribeUrl : null
  const reader = readerOf(undefined, customer.locale ?? settings.locale)
  const content = contentOf(facts, { ...reader, providerName: sender.name })
  const frame: EmailFrame = {
    reader,
    merchant: sender,
    isSandbox: input.isSandbox,
    // Anyone can register a name for the address of another person, so it must not become a link.
    customerName: mailNameOf(customer.name ?? undefined) || null,
    // A receipt may go to the address for invoices, whose owner cannot sign in as the customer.
    accountUrl: facts.kind === 'receipt' ? null : input.accountUrl,
    accountSeconds: Math.round(input.accountMs / 1_000),
    unsubscribeUrl,
  }
  const { fromName, replyTo } = sender
  return {
    ...{ fromName, replyTo, unsubscribeUrl },
    subject: content.subject,
    text: textOf(content, frame),
    html: htmlOf(content, frame),
  }
}
