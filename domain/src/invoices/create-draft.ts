import { pipelined } from '../postgres/pipelined.ts'
import { totalOf, type InvoiceLine } from '../pricing/invoice-line.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import type { TaxTerms } from '../tax/tax-rule.ts'
import { generateReference } from '../unit-of-work/generate-reference.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { claimPeriods, type PeriodClaim } from './billed-periods.ts'
import { consumeCarried, takeHeld } from './carried-amounts.ts'
import { draftLines, paidLines } from './draft-lines.ts'
import type { InvoiceWithLines } from './invoice.ts'
import { consumeItems } from './items-repository.ts'
import { insertLines } from './lines.ts'
import { readTaxLines } from './read-tax.ts'
import { insertInvoice } from './repository.ts'

export type InvoiceRequest = {
  readonly customerRef: string
  /** Null if only credits were bought. */
  readonly purchaseRef: string | null
  readonly planSnapshot: PlanSnapshot | null
  /** ISO 4217, upper case. All lines have this currency. */
  readonly currency: string
  /** Lines without tax. The tax is added to them. */
  readonly lines: readonly InvoiceLine[]
  /** The billed periods that the lines charge. */
  readonly claims: readonly PeriodClaim[]
  /**
   * Tax terms of a payment that was made before the invoice. The invoice then totals exactly the paid amount, so of
   * amounts from earlier invoices only `fromBalanceMinor` is carried in.
   */
  readonly paidWith?: TaxTerms | 'no tax'
  /** The part of the customer's credit that the payment held, in minor units. */
  readonly fromBalanceMinor?: bigint
  /**
   * Whether the lines cost nothing and stay a draft. Amounts carried over to the customer's next invoice are left
   * untouched.
   */
  readonly staysDraft?: boolean
  /** Whether the invoice charges the pending items of the customer. Default: if it charges a period. */
  readonly takesItems?: boolean
}

export type DraftOutcome =
  | { readonly kind: 'created'; readonly invoice: InvoiceWithLines }
  /** Another invoice already charges one of the periods. Nothing was created. */
  | { readonly kind: 'already-billed' }

/**
 * Creates a draft: claims its periods, takes the amount that is carried over to the customer's next invoice, and stores
 * the lines with all inputs of their prices. Everything commits together, so after a crash a period is either unbilled
 * or completely billed.
 */
export async function createDraft(
  work: UnitOfWork,
  request: InvoiceRequest,
): Promise<DraftOutcome> {
  const { sql, providerId, now } = work
  const { customerRef, purchaseRef, planSnapshot, currency, claims } = request
  const reference = generateReference('invoice')
  if (claims.length > 0) {
    if (purchaseRef === null) throw new Error('billed periods require a purchase')
    const isClaimed = await claimPeriods(sql, providerId, purchaseRef, claims, reference, now)
    if (!isClaimed) return { kind: 'already-billed' }
  }
  const charged = [...request.lines, ...(await takeItems(work, request, reference))]
  const lines = await readDraftLines(work, { ...request, lines: charged })
  const invoice: InvoiceWithLines = {
    reference,
    number: null,
    status: 'draft',
    customerRef,
    purchaseRef,
    planSnapshot,
    currency,
    totalMinor: totalOf(lines),
    carriedMinor: 0n,
    paidMinor: 0n,
    creditedMinor: 0n,
    refundedMinor: 0n,
    isHeld: false,
    failedCharges: 0,
    nextChargeAt: null,
    countedFailure: null,
    parties: null,
    issuedAt: null,
    dueAt: null,
    paidAt: null,
    closedAt: null,
    createdAt: now,
    updatedAt: now,
    lines,
  }
  await Promise.all([
    insertInvoice(sql, providerId, invoice),
    insertLines(sql, providerId, reference, lines),
  ])
  return { kind: 'created', invoice }
}

/** Returns the lines of the customer's pending items, which this invoice charges. */
async function takeItems(
  { sql, providerId }: UnitOfWork,
  { customerRef, currency, claims, paidWith, staysDraft, takesItems }: InvoiceRequest,
  reference: string,
): Promise<InvoiceLine[]> {
  const isTaking = takesItems ?? claims.length > 0
  if (!isTaking || paidWith !== undefined || staysDraft === true) return []
  return consumeItems(sql, providerId, { customerRef, currency }, reference)
}

/** Returns the requested lines with their tax, and takes the amount that is carried over to the customer's next invoice. */
async function readDraftLines(
  work: UnitOfWork,
  request: InvoiceRequest,
): Promise<readonly InvoiceLine[]> {
  const { customerRef, currency, paidWith, lines, staysDraft, fromBalanceMinor = 0n } = request
  if (staysDraft === true) return lines
  const { sql, providerId, now } = work
  if (paidWith !== undefined) {
    await takeHeld(sql, providerId, { customerRef, currency }, fromBalanceMinor, now)
    return paidLines(lines, paidWith, fromBalanceMinor)
  }
  const [carriedInMinor, tax] = await pipelined([
    consumeCarried(sql, providerId, { customerRef, currency }, now),
    readTaxLines(work, request),
  ])
  return draftLines(lines, tax, carriedInMinor)
}
