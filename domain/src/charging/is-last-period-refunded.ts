import { listBilledPeriods } from '../invoices/billed-periods.ts'
import { findInvoice } from '../invoices/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'

/** Whether the invoice charged the newest period of the purchase, and all of it was paid back. */
export async function isLastPeriodRefunded(
  { sql, providerId }: Pick<UnitOfWork, 'sql' | 'providerId'>,
  purchaseRef: string,
  invoiceRef: string,
): Promise<boolean> {
  const [last] = await listBilledPeriods(sql, providerId, purchaseRef, 'recurring', 1)
  if (last?.invoiceRef !== invoiceRef) return false
  return (await findInvoice(sql, providerId, invoiceRef))?.status === 'refunded'
}
