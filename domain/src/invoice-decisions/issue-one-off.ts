import { lockCustomer } from '../customers/repository.ts'
import { createDraft } from '../invoices/create-draft.ts'
import { issueInvoice } from '../invoices/issue-invoice.ts'
import { readParties, type Seller } from '../invoices/parties.ts'
import { findExchangeRate } from '../money/exchange-rates.ts'
import { sha256OfInput } from '../money-ledger/ledger.ts'
import { totalOf } from '../pricing/invoice-line.ts'
import { generateReference } from '../unit-of-work/generate-reference.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { InvoiceDecision } from './invoice-decision.ts'
import { findDecisionOfKey, insertDecision } from './repository.ts'
import { textsOfLine, toInvoiceLine, type RequestedLine } from './requested-line.ts'
import { findRepeated } from './find-repeated.ts'

export type OneOffRequest = {
  readonly customerRef: string
  /** ISO 4217, upper case. */
  readonly currency: string
  readonly lines: readonly RequestedLine[]
  /** When the invoice is charged; null: as soon as it is issued. */
  readonly dueAt: Date | null
  readonly reason: string
}

export type OneOffOutcome =
  | { readonly kind: 'decided'; readonly decision: InvoiceDecision }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'key-reused' }
  /** The currency has no exchange rate, so no payment in it can be made. */
  | { readonly kind: 'no-rate' }

/**
 * Issues an invoice of the given lines, with the tax of the customer and what is carried over from earlier invoices. All of it is one
 * transaction. The billing runner charges the invoice like others.
 */
export async function issueOneOff(
  work: UnitOfWork,
  request: OneOffRequest,
  seller: Seller,
): Promise<OneOffOutcome> {
  const { sql, providerId, idempotencyKey, now } = work
  const { customerRef, currency, dueAt, reason } = request
  if ((await lockCustomer(sql, providerId, customerRef)) === undefined) return { kind: 'not-found' }
  const inputSha256 = sha256OfInput(inputOf(request))
  const before = await findRepeated(work, inputSha256, (key) =>
    findDecisionOfKey(sql, providerId, key),
  )
  if (before === 'key-reused') return { kind: 'key-reused' }
  if (before !== undefined) return { kind: 'decided', decision: before.decision }
  if ((await findExchangeRate(sql, providerId, currency)) === undefined) return { kind: 'no-rate' }
  const lines = request.lines.map(toInvoiceLine)
  const whole = { customerRef, purchaseRef: null, planSnapshot: null, currency, lines, claims: [] }
  const draft = await createDraft(work, whole)
  if (draft.kind !== 'created') throw new Error(`an invoice of ${customerRef} claims no period`)
  const parties = await readParties(work, customerRef, null, seller)
  const { reference: invoiceRef } = await issueInvoice(work, draft.invoice, parties, dueAt)
  const decision: InvoiceDecision = {
    reference: generateReference('invoiceDecision'),
    invoiceRef,
    kind: 'issued',
    amountMinor: totalOf(lines),
    reason,
    decidedBy: work.actor.name,
    creditNoteRef: null,
    refundRef: null,
    createdAt: now,
  }
  await insertDecision(sql, providerId, decision, { idempotencyKey, inputSha256 })
  return { kind: 'decided', decision }
}

function inputOf({ customerRef, currency, lines, dueAt, reason }: OneOffRequest): string[] {
  const due = dueAt?.toISOString() ?? ''
  return ['issued', customerRef, currency, due, reason, ...lines.flatMap(textsOfLine)]
}
