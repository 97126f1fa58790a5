import type { Queryable } from '@tollgate/platform/database/database'
import { sumCredited } from './credit-notes.ts'
import { sumCharged } from './decide-refund-credit.ts'
import { listLines } from './lines.ts'
import { findInvoice } from './repository.ts'

/**
 * Returns whether nothing that was paid of the invoice is kept: it was refunded in full, or refunds and credit notes together have
 * returned all that it charges. Credit notes alone end nothing, because they correct a price. An invoice that the balance paid alone
 * has nothing else to return it.
 */
export async function isReturned(
  sql: Queryable,
  providerId: string,
  invoiceRef: string,
): Promise<boolean> {
  const invoice = await findInvoice(sql, providerId, invoiceRef)
  const isPaidByBalance = invoice?.status === 'paid' && invoice.paidMinor === 0n
  if (invoice?.status !== 'partly_refunded' && !isPaidByBalance)
    return invoice?.status === 'refunded'
  return isAllCredited(sql, providerId, invoiceRef)
}

/** Returns whether credit notes have credited all that the invoice charges. */
export async function isAllCredited(
  sql: Queryable,
  providerId: string,
  invoiceRef: string,
): Promise<boolean> {
  const { chargedMinor, creditedMinor } = await readCharged(sql, providerId, invoiceRef)
  return creditedMinor >= chargedMinor
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
