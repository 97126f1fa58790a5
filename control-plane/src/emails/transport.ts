import type { CustomerAuthConfig } from '../customer-auth/customer-auth-settings.ts'
import type { Mailer } from '../customer-auth/mailer.ts'
import { addressOf } from './message.ts'

/** The destination of all emails of the installation. It is `none` if the operator has configured neither a mail server nor an inbox. */
export type EmailTransport =
  | { readonly kind: 'smtp'; readonly smtpUrl: string; readonly fromAddress: string }
  | { readonly kind: 'inbox'; readonly fromAddress: string }
  | { readonly kind: 'none' }

/**
 * Returns where emails go. A mail server needs a sender: with the default address on `localhost`, codes for the sign-in are still
 * sent, but no emails of providers.
 */
export function transportOf(
  { smtpUrl, smtpFrom }: Pick<CustomerAuthConfig, 'smtpUrl' | 'smtpFrom'>,
  { hasInbox }: Pick<Mailer, 'hasInbox'>,
): EmailTransport {
  const fromAddress = addressOf(smtpFrom)
  if (smtpUrl === '') return hasInbox ? { kind: 'inbox', fromAddress } : { kind: 'none' }
  if (fromAddress === '' || fromAddress.endsWith('@localhost')) return { kind: 'none' }
  return { kind: 'smtp', smtpUrl, fromAddress }
}
