import { addToInbox } from '@tollgate/domain/customer-auth/inbox'
import type { ProviderDatabases } from '@tollgate/platform/database/database'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { Caller } from '../access/caller.ts'
import type { CustomerAuthConfig } from './customer-auth-settings.ts'

export type Mail = {
  readonly recipient: string
  readonly subject: string
  readonly body: string
}

/** Sends mail to customers. */
export type Mailer = {
  /** Whether mail can be sent or stored. If false, `send` rejects. */
  readonly isReady: boolean
  /** Whether mail is stored for the page at `/inbox` instead of being sent. */
  readonly hasInbox: boolean
  /** Rejects if the mail server does not accept the mail, with `RecipientRefusedError` if it refuses the address permanently. */
  send(caller: Caller, mail: Mail): Promise<void>
}

type MailerParts = {
  readonly database: ProviderDatabases
  readonly clock: Clock
  readonly hostedUrl: string
}

/** The mail server refused the recipient's address permanently. */
export class RecipientRefusedError extends Error {}

const sendTimeoutMs = 10_000

export function createMailer(
  config: Pick<CustomerAuthConfig, 'smtpUrl' | 'smtpFrom' | 'inbox'>,
  parts: MailerParts,
): Mailer {
  if (config.smtpUrl !== '') return smtpMailer(config)
  const hasInbox = config.inbox === 'on' || (config.inbox === 'local' && isLocal(parts.hostedUrl))
  return {
    isReady: hasInbox,
    hasInbox,
    send: async ({ providerId, environment }, mail) => {
      if (!hasInbox) throw new Error('TOLLGATE_SMTP_URL is not set: no mail can be sent')
      const createdAt = new Date(parts.clock.now())
      const message = { ...mail, html: null, attachment: null, createdAt }
      const rows = parts.database.of(providerId).in(environment)
      await rows.write((sql) => addToInbox(sql, providerId, message))
    },
  }
}

function smtpMailer({
  smtpUrl,
  smtpFrom,
}: Pick<CustomerAuthConfig, 'smtpUrl' | 'smtpFrom'>): Mailer {
  const address = new URL(smtpUrl)
  for (const name of ['connectionTimeout', 'greetingTimeout', 'socketTimeout']) {
    if (!address.searchParams.has(name)) address.searchParams.set(name, String(sendTimeoutMs))
  }
  return {
    isReady: true,
    hasInbox: false,
    send: async (_caller, { recipient, subject, body }) => {
      const { createTransport } = await import('nodemailer')
      // Pass an object: nodemailer would parse further addresses out of a string that a person typed.
      const to = { name: '', address: recipient }
      const transport = createTransport(address.href)
      try {
        await transport.sendMail({ from: smtpFrom, to, subject, text: body })
      } catch (error) {
        throw isRecipientRefused(error)
          ? new RecipientRefusedError('refused', { cause: error })
          : error
      }
    },
  }
}

/**
 * Returns whether the mail server refused the recipient permanently. A 4xx response is temporary, a 5xx response is permanent.
 * Failures of other SMTP commands have other codes.
 */
function isRecipientRefused(error: unknown): boolean {
  const { code, command, responseCode } = error as Record<string, unknown>
  return code === 'EENVELOPE' && command === 'RCPT TO' && Number(responseCode) >= 500
}

function isLocal(hostedUrl: string): boolean {
  const { hostname } = new URL(hostedUrl)
  return hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname)
}
