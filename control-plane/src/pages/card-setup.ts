import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ReactElement } from 'react'
import type { Customer } from '@tollgate/domain/customers/repository'
import { findSetup } from '@tollgate/domain/cards/setups-repository'
import { applySetup } from '@tollgate/domain/settlement/apply-setup'
import { processorOf, type PaymentParts } from '@tollgate/domain/payments/payment-parts'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { Caller } from '../access/caller.ts'
import { read, type ReadParts } from '../access/read.ts'
import { cardEntryOrigins, type CardEntries, type CardEntry } from './card-entry.ts'
import { formFields } from './form-fields.ts'
import type { Frame } from './frame.ts'
import type { Notice } from './notice.tsx'
import { sendPage } from './page.tsx'
import { isUnpaid, readUnpaid } from './portal/unpaid-invoices.tsx'
import { ProblemError, problems } from './problem.tsx'
import type { OpenSetup } from './save-card-section.tsx'
import { securityHeaders } from './security-headers.ts'

export type CardSetupParts = ReadParts & {
  readonly clock: Clock
  readonly payments: PaymentParts
  readonly cardEntries: CardEntries
}

/* Functions for a card that is saved without a payment, in the portal or on a checkout. */

type Visit = { readonly caller: Caller; readonly frame: Frame }

/** Returns where cards are entered. Throws the problem page if no payments are taken. */
export function requireCardEntry(
  pages: { readonly cardEntries: CardEntries },
  { caller, frame }: Visit,
): Exclude<CardEntry, { kind: 'none' }> {
  const entry = pages.cardEntries[caller.environment]
  if (entry.kind === 'none') throw new ProblemError(problems.noPayments, frame)
  return entry
}

/** Returns the name of this attempt from the form, so that a button pressed twice starts only one setup. */
export function requireAttemptId(request: FastifyRequest, { frame }: Visit): string {
  const { attempt } = formFields(request)
  if (attempt === undefined || !/^[0-9a-f-]{36}$/.test(attempt)) {
    throw new ProblemError(problems.staleForm, frame)
  }
  return attempt
}

/** Throws the same problem page for a setup of another customer as for one that does not exist. */
async function requireSetup(
  pages: ReadParts,
  { caller, customer, frame }: Visit & { readonly customer: Customer },
  setupIntentId: string,
): Promise<void> {
  const setup = await read(pages, caller, (sql) => findSetup(sql, caller.providerId, setupIntentId))
  if (setup?.customerRef !== customer.reference) throw new ProblemError(problems.notFound, frame)
}

/**
 * Returns the setup for which the customer enters a card. Returns undefined if the setup has ended, for example when the customer
 * returns after entering the card. The page then shows the result instead of a form that the processor would refuse.
 */
export async function readOpenSetup(
  pages: CardSetupParts,
  visit: Visit & { readonly customer: Customer },
  setupIntentId: string,
  returnUrl: string,
): Promise<OpenSetup | undefined> {
  const entry = requireCardEntry(pages, visit)
  await requireSetup(pages, visit, setupIntentId)
  const processor = processorOf(pages.payments, visit.caller.environment)
  const setup = await processor.retrieve('setup_intent', setupIntentId)
  const hasEnded = setup?.status === 'succeeded' || setup?.status === 'canceled'
  if (setup?.clientSecret === undefined || hasEnded) return undefined
  const hasUnpaid = (await readUnpaid(pages, visit)).some(isUnpaid)
  return { entry, setupIntentId, clientSecret: setup.clientSecret, returnUrl, hasUnpaid }
}

/** Applies the outcome of the setup. If no card was saved, returns the address at which the customer continues. */
export async function finishSetup(
  pages: CardSetupParts,
  visit: Visit & { readonly customer: Customer },
  setupIntentId: string,
  { entry, ended }: { readonly entry: string; readonly ended: string },
): Promise<'saved' | { readonly continuePath: string }> {
  await requireSetup(pages, visit, setupIntentId)
  const parts = { ...pages.payments, now: () => new Date(pages.clock.now()) }
  const applied = await applySetup(parts, visit.caller.environment, setupIntentId)
  switch (applied) {
    case 'saved':
      return 'saved'
    case 'declined':
      return { continuePath: `${entry}?why=declined` }
    case 'open':
      return { continuePath: `${entry}?why=unfinished` }
    case 'ended':
      return { continuePath: ended }
  }
}

/** Sends the page with the form of an open setup. */
export async function sendCardForm(
  reply: FastifyReply,
  { entry }: OpenSetup,
  page: ReactElement,
): Promise<FastifyReply> {
  void reply.headers(securityHeaders(cardEntryOrigins(entry)))
  return sendPage(reply, 200, page)
}

/** Returns why the card must be entered again, from the query of the page. */
export function setupNotice(
  { query }: FastifyRequest,
  { t }: Pick<Frame, 't'>,
): Notice | undefined {
  const { why } = query as { readonly why?: unknown }
  if (why === 'declined') return { tone: 'bad', text: t('shared:cardNotAccepted') }
  return why === 'unfinished' ? { tone: 'bad', text: t('shared:cardNotEntered') } : undefined
}
