import { atLeastZero, lesser } from '../money/amounts.ts'
import type { InvoiceStatus } from './transitions.ts'

/** An invoice whose usage later bills have credited. Minor units. */
type CorrectedInvoice = {
  readonly status: InvoiceStatus
  /** Written off and not paid since, or withdrawn by a bank, beyond `repaidMinor`. May have amounts of earlier invoices. */
  readonly lostMinor: bigint
  /** Charged by the invoice itself, without amounts of earlier invoices. */
  readonly chargedMinor: bigint
  /** Credited by the invoice itself, of usage of earlier bills. It has paid a part of the other lines. */
  readonly heldMinor: bigint
  /** Credited by its credit notes. */
  readonly creditedMinor: bigint
  /** Credited by later bills, because its usage was corrected. */
  readonly laterMinor: bigint
  /** The part of these credits that refunds and disputes took from the balance. */
  readonly repaidMinor: bigint
}

/**
 * Returns how much of the credit of later bills the customer's balance must not keep, beyond what refunds and disputes took: what the
 * customer gets back for the invoice, because it is not paid, was credited or was corrected, is never more than the invoice charged.
 *
 * Negative if refunds and disputes took more, because the bill that held the credit has become void since.
 */
export function decideGivenUpCredit(invoice: CorrectedInvoice): bigint {
  const { status, creditedMinor, laterMinor, repaidMinor } = invoice
  const isGivenUp = status === 'void' || status === 'uncollectible'
  const chargedMinor = invoice.chargedMinor + (isGivenUp ? invoice.heldMinor : 0n)
  const lostMinor = status === 'void' ? chargedMinor : lesser(invoice.lostMinor, chargedMinor)
  const returnedMinor = lostMinor + creditedMinor + repaidMinor + laterMinor
  const mostMinor = lesser(atLeastZero(returnedMinor - chargedMinor), laterMinor)
  return isGivenUp ? mostMinor - repaidMinor : lesser(mostMinor - repaidMinor, 0n)
}
