import type { Queryable } from '@tollgate/platform/database/database'
import { sumCredited } from './credit-notes.ts'
import { sumCharged } from './decide-refund-credit.ts'
import { listLines } from './lines.ts'
import { findInvoice } from './repository.ts'

/**
 * Returns whether nothing that was paid of the invoice is kept: it was refunded in full, or refunds and credit notes together have
 * returned all that it charges. Credit notes alone end nothing, because they correct a price.
 */
export async function isReturned(
  sql: Queryable,
  providerId: string,
  invoiceRef: string,
): Promise<boolean> {
  const invoice = await findInvoice(sql, providerId, invoiceRef)
  if (invoice?.status !== 'partly_refunded') return invoice?.status === 'refunded'
  const lines = await listLines(sql, providerId, invoiceRef)
  const credited = await sumCredited(sql, providerId, invoiceRef)
  const { chargedMinor, creditedMinor } = sumCharged(lines, credited)
  return creditedMinor >= chargedMinor
}
