import { listBilledPeriods } from '../invoices/billed-periods.ts'
import { findInvoice } from '../invoices/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'

/**
 * Returns whether the invoice charged the newest period of the purchase and was refunded in full. Returns undefined if
 * no period of the purchase was charged.
 */
export async function isLastPeriodRefunded(
  { sql, providerId }: Pick<UnitOfWork, 'sql' | 'providerId'>,
  purchaseRef: string,
  invoiceRef: string | null,
): Promise<boolean | undefined> {
  const [last] = await listBilledPeriods(sql, providerId, purchaseRef, 'recurring', 1)
  if (last === undefined) return undefined
  if (last.invoiceRef !== invoiceRef) return false
  return (await findInvoice(sql, providerId, invoiceRef))?.status === 'refunded'
}
