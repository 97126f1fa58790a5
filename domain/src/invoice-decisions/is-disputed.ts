import { hasDisputeNotWon } from '../invoices/disputes.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'

/** Returns whether the customer's bank has money of the invoice, or may still get it. */
export function isDisputed({ sql, providerId }: UnitOfWork, invoiceRef: string): Promise<boolean> {
  return hasDisputeNotWon(sql, providerId, invoiceRef)
}
