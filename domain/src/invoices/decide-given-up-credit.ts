import { atLeastZero, lesser } from '../money/amounts.ts'
import { dueMinor, type InvoiceAmounts, type InvoiceStatus } from './transitions.ts'

/** An invoice that was voided or written off, or paid after that. Minor units. */
type GivenUpInvoice = {
  readonly status: InvoiceStatus
  readonly amounts: InvoiceAmounts
  /** Charged by the invoice itself, without amounts of earlier invoices. */
  readonly chargedMinor: bigint
  /** Credited by its credit notes. */
  readonly creditedMinor: bigint
  /** Credited by later bills, because its usage was corrected. */
  readonly laterMinor: bigint
}

/**
 * Returns how much of the credit of later bills the customer's balance must not keep: what the customer gets back for the invoice,
 * because it is not paid, was credited or was corrected, is never more than the invoice charged.
 */
export function decideGivenUpCredit(invoice: GivenUpInvoice): bigint {
  const { chargedMinor, creditedMinor, laterMinor } = invoice
  const overMinor = givenUpOf(invoice) + creditedMinor + laterMinor - chargedMinor
  return lesser(atLeastZero(overMinor), laterMinor)
}

/** Returns the part of the charge that is given up. Amounts of earlier invoices that are due with it are no part of its charge. */
function givenUpOf({ status, amounts, chargedMinor }: GivenUpInvoice): bigint {
  if (status === 'void') return chargedMinor
  if (status !== 'uncollectible') return 0n
  return lesser(dueMinor(amounts), chargedMinor)
}
