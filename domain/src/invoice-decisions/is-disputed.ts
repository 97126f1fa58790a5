import { listLatestDisputes } from '../invoices/disputes.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'

/** Returns whether the customer's bank has the money of the invoice, or may still get it. */
export async function isDisputed(
  { sql, providerId }: UnitOfWork,
  invoiceRef: string,
): Promise<boolean> {
  const disputes = await listLatestDisputes(sql, providerId, [invoiceRef])
  return [...disputes.values()].some(({ status }) => status !== 'won')
}
