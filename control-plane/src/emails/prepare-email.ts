import { findCustomer, type Customer } from '@tollgate/domain/customers/repository'
import { storeEmailLink } from '@tollgate/domain/customer-auth/links'
import type { ClaimedEmail, SkippedReason } from '@tollgate/domain/emails/email'
import { findEmailSettings } from '@tollgate/domain/emails/settings-repository'
import { findSuppressions } from '@tollgate/domain/emails/suppressions-repository'
import { findOutboxEvent } from '@tollgate/domain/outbox/repository'
import type { CommitParts } from '@tollgate/domain/publishing/commit-and-publish'
import { findTaxDetails } from '@tollgate/domain/tax/tax-details-repository'
import { jobOperation } from '@tollgate/domain/unit-of-work/job-operation'
import type { Queryable } from '@tollgate/platform/database/database'
import type { Caller } from '../access/caller.ts'
import { commit } from '../access/commit.ts'
import { read } from '../access/read.ts'
import { readBrand } from '../invoices/read-brand.ts'
import { readInvoice } from '../invoices/read-invoice.ts'
import { renderInvoice } from '../invoices/render-invoice.ts'
import { connectPath } from '../pages/sign-in/connect-routes.tsx'
import { unsubscribePath } from '../pages/emails/unsubscribe-routes.tsx'
import { composeEmail, readSender, type SenderParts } from './compose-email.ts'
import { decideSkip } from './decide-skip.ts'
import type { ComposedEmail } from './message.ts'
import { readFacts } from './read-facts.ts'
import type { EmailTransport } from './transport.ts'

export type PrepareParts = CommitParts &
  SenderParts & {
    readonly transport: EmailTransport
    readonly limits: { readonly ageMsMax: number; readonly linkMs: number }
  }

export type PreparedEmail =
  | { readonly kind: 'skip'; readonly reason: SkippedReason }
  | { readonly kind: 'ready'; readonly email: ComposedEmail }

/**
 * Reads what the email states, and renders it. Everything is read in short transactions before the mail server is contacted. The
 * email has the names and the brand at the time of the attempt.
 */
export async function prepareEmail(
  parts: PrepareParts,
  claimed: ClaimedEmail,
  caller: Caller,
): Promise<PreparedEmail> {
  const { transport, limits } = parts
  if (transport.kind === 'none') return { kind: 'skip', reason: 'no-transport' }
  const { providerId, environment } = caller
  const now = parts.publisher.now()
  const found = await read(parts, caller, async (sql) => {
    const event = await findOutboxEvent(sql, providerId, claimed.eventId)
    const settings = await findEmailSettings(sql, providerId)
    const { customerRef } = claimed
    const customer =
      customerRef === null ? undefined : await findCustomer(sql, providerId, customerRef)
    const recipient = customer === undefined ? null : await recipientOf(sql, claimed, customer)
    const suppressions =
      recipient === null ? [] : await findSuppressions(sql, providerId, recipient)
    const reason = decideSkip({
      transport: transport.kind,
      environment,
      kind: claimed.kind,
      chosenKinds: settings.kinds,
      isRequested: claimed.isRequested,
      ageMs: now.getTime() - claimed.wantedAt.getTime(),
      ageMsMax: limits.ageMsMax,
      recipient,
      suppressions,
      sandboxRecipients: settings.sandboxRecipients,
    })
    if (reason !== undefined) return { kind: 'skip', reason } as const
    if (event === undefined) return { kind: 'skip', reason: 'no-event' } as const
    const facts = await readFacts({ sql, providerId, environment }, event)
    return { kind: 'found', facts, settings, customer: customer!, recipient: recipient! } as const
  })
  if (found.kind === 'skip') return found
  const { facts, settings, customer, recipient } = found
  const sender = await readSender(parts, caller, settings)
  if (claimed.kind !== 'receipt') await storeLink(parts, claimed, caller, customer.reference)
  const { hostedUrl } = parts
  const email = composeEmail({
    facts: facts.email,
    sender,
    settings,
    customer,
    isSandbox: environment === 'sandbox',
    accountUrl: `${hostedUrl}${connectPath}/${claimed.token}`,
    accountMs: limits.linkMs,
    unsubscribeUrl: `${hostedUrl}${unsubscribePath(claimed.token)}`,
  })
  return {
    kind: 'ready',
    email: {
      ...email,
      reference: claimed.reference,
      fromAddress: transport.fromAddress,
      recipient,
      attachment: await renderReceipt(parts, caller, facts.invoiceRef),
      createdAt: claimed.createdAt,
    },
  }
}

/** Only receipts go to the address for invoices. Its owner cannot sign in as the customer. */
async function recipientOf(
  sql: Queryable,
  { kind, providerId }: ClaimedEmail,
  { reference, email }: Customer,
): Promise<string> {
  if (kind !== 'receipt') return email
  return (await findTaxDetails(sql, providerId, reference))?.email ?? email
}

/** Stores the link to the portal. Repeated attempts have the same link. */
async function storeLink(
  parts: PrepareParts,
  { token }: ClaimedEmail,
  caller: Caller,
  customerRef: string,
): Promise<void> {
  const now = parts.publisher.now()
  const expiresAt = new Date(now.getTime() + parts.limits.linkMs)
  await commit(parts, jobOperation('emails', caller, now), (work) =>
    storeEmailLink(work, { id: token, customerRef }, expiresAt),
  )
}

async function renderReceipt(
  parts: PrepareParts,
  caller: Caller,
  invoiceRef: string | null,
): Promise<ComposedEmail['attachment']> {
  if (invoiceRef === null) return null
  const printed = await readInvoice(parts, caller, invoiceRef)
  if (printed === undefined) return null
  return renderInvoice(printed, await readBrand(parts, caller), caller.environment)
}
