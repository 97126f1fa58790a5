import type { Queryable } from '@tollgate/platform/database/database'
import { sumCredited } from './credit-notes.ts'
import { sumCharged } from './decide-refund-credit.ts'
import type { Invoice } from './invoice.ts'
import { listLines } from './lines.ts'
import { findInvoice } from './repository.ts'

/**
 * Returns whether nothing that was paid for the charges of the invoice is kept: refunds and credit notes together have returned all of
 * it, what the customer paid and what the balance paid. Credit notes alone end nothing, because they correct a price. An invoice that
 * the balance paid alone has nothing else to return it.
 */
export async function isReturned(
  sql: Queryable,
  providerId: string,
  invoiceRef: string,
): Promise<boolean> {
  const invoice = await findInvoice(sql, providerId, invoiceRef)
  if (invoice === undefined || !canBeReturned(invoice)) return false
  const { chargedMinor, creditedMinor } = await readCharged(sql, providerId, invoiceRef)
  // An invoice that only collects an earlier amount charges nothing of its own.
  return chargedMinor > 0n ? creditedMinor >= chargedMinor : invoice.status === 'refunded'
}

function canBeReturned({ status, paidMinor }: Invoice): boolean {
  if (status === 'paid') return paidMinor === 0n
  return status === 'partly_refunded' || status === 'refunded'
}

/** Returns what the lines of the invoice charge, and what credit notes have credited of it. Minor units. */
export async function readCharged(
  sql: Queryable,
  providerId: string,
  invoiceRef: string,
): Promise<ReturnType<typeof sumCharged>> {
  const lines = await listLines(sql, providerId, invoiceRef)
  return sumCharged(lines, await sumCredited(sql, providerId, invoiceRef))
}
