import { findMerchant } from '../merchants/repository.ts'
import { decideDue } from '../pricing/decide-due.ts'
import type { InvoiceLine } from '../pricing/invoice-line.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { readCarried, type CarriedName } from './carried-amounts.ts'

/**
 * Whether the lines have no invoice because they cost nothing. Such lines stay a draft for good: it says what was counted,
 * so that late usage is priced from there, and takes no number, no tax and no entry of the ledger. What waits for the
 * customer's next invoice goes on waiting, unless it is enough to be charged.
 */
export async function staysDraft(
  { sql, providerId }: UnitOfWork,
  { customerRef, currency }: CarriedName,
  lines: readonly InvoiceLine[],
): Promise<boolean> {
  if (lines.some(({ amountMinor }) => amountMinor !== 0n)) return false
  const { issueZeroInvoices } = await findMerchant(sql, providerId)
  if (issueZeroInvoices === true) return false
  const waitingMinor = await readCarried(sql, providerId, { customerRef, currency })
  return decideDue(waitingMinor, currency).dueMinor === 0n
}
