import { generatedEmailEnd } from '@tollgate/domain/customers/repository'
import type { SkippedReason } from '@tollgate/domain/emails/email'
import type { EmailSuppression } from '@tollgate/domain/emails/suppressions-repository'
import type { Environment } from '@tollgate/schemas/environment'
import { noticeKinds, type EmailKind } from '@tollgate/schemas/http/emails'
import type { EmailTransport } from './transport.ts'

export type SkipFacts = {
  readonly transport: Exclude<EmailTransport['kind'], 'none'>
  readonly environment: Environment
  readonly kind: EmailKind
  /** The kinds that the provider sends now. It may have sent more when the event happened. */
  readonly chosenKinds: readonly EmailKind[]
  /** Whether a person had the email sent again. */
  readonly isRequested: boolean
  readonly ageMs: number
  readonly ageMsMax: number
  /** Null if the customer does not exist any more. */
  readonly recipient: string | null
  readonly suppressions: readonly Pick<EmailSuppression, 'reason'>[]
  readonly sandboxRecipients: readonly string[]
}

/** Returns why the email is not sent, or undefined if it is. */
export function decideSkip(facts: SkipFacts): SkippedReason | undefined {
  const { transport, environment, recipient, suppressions } = facts
  if (!facts.isRequested && !facts.chosenKinds.includes(facts.kind)) return 'not-chosen'
  if (facts.ageMs > facts.ageMsMax) return 'outdated'
  if (recipient === null || recipient.toLowerCase().endsWith(generatedEmailEnd)) return 'no-address'
  if (suppressions.some(({ reason }) => reason !== 'unsubscribed')) return 'suppressed'
  if (suppressions.length > 0 && noticeKinds.has(facts.kind)) return 'unsubscribed'
  // Customers of the sandbox often have the addresses of real people.
  const isTold = facts.sandboxRecipients.some(
    (each) => each.toLowerCase() === recipient.toLowerCase(),
  )
  if (environment === 'sandbox' && transport === 'smtp' && !isTold) return 'sandbox'
  return undefined
}
