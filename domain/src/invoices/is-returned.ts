import type { Queryable } from '@tollgate/platform/database/database'
import { sumCredited } from './credit-notes.ts'
import { sumCharged } from './decide-refund-credit.ts'
import { readCreditedLater } from './credited-later.ts'
import type { Invoice } from './invoice.ts'
import { listLines } from './lines.ts'
import { findInvoice } from './repository.ts'

/**
 * Returns whether nothing that was paid for the charges of the invoice is kept: refunds, credit notes and credits of corrected usage
 * together have returned all of it, what the customer paid and what the balance paid. Credits alone end nothing, because they correct a
 * price. An invoice that the balance paid alone has nothing else to return it.
 */
export async function isReturned(
  sql: Queryable,
  providerId: string,
  invoiceRef: string,
): Promise<boolean> {
  const invoice = await findInvoice(sql, providerId, invoiceRef)
  if (invoice === undefined || !canBeReturned(invoice)) return false
  const { chargedMinor, ...returned } = await readCharged(sql, providerId, invoice)
  // An invoice that only collects an earlier amount charges nothing of its own.
  if (chargedMinor <= 0n) return invoice.status === 'refunded'
  return returned.creditedMinor + returned.returnedMinor >= chargedMinor
}

function canBeReturned({ status, paidMinor }: Invoice): boolean {
  if (status === 'paid') return paidMinor === 0n
  return status === 'partly_refunded' || status === 'refunded'
}

/** Amounts that an invoice charges itself, and that were credited of it. Minor units. */
type ChargedAndCredited = ReturnType<typeof sumCharged> & {
  /** Credited by later bills, because the usage of the invoice was corrected. */
  readonly laterMinor: bigint
  /** Returned without a credit note (see `CreditedLater`). */
  readonly returnedMinor: bigint
}

/** Returns what the lines of the invoice charge, and what its credit notes and later bills have credited of it. */
export async function readCharged(
  sql: Queryable,
  providerId: string,
  invoice: Invoice,
): Promise<ChargedAndCredited> {
  const lines = await listLines(sql, providerId, invoice.reference)
  const later = await readCreditedLater(sql, providerId, { ...invoice, lines })
  const credited = await sumCredited(sql, providerId, invoice.reference)
  return {
    ...sumCharged(lines, credited),
    laterMinor: later.amountMinor,
    returnedMinor: later.returnedMinor,
  }
}
