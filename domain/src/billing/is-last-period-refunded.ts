import { listBilledPeriods } from '../invoices/billed-periods.ts'
import { findInvoice } from '../invoices/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'

/**
 * Whether the invoice charged the newest period of the purchase, and all of it was paid back. Undefined where no period of
 * the purchase was charged.
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
