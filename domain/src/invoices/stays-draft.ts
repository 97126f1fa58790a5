import { findMerchant } from '../merchants/repository.ts'
import { decideDue } from '../pricing/decide-due.ts'
import type { InvoiceLine } from '../pricing/invoice-line.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { readCarried, type CarriedAmountKey } from './carried-amounts.ts'

/**
 * Returns whether the lines cost nothing and are therefore not invoiced. Such lines stay a draft permanently. The draft
 * records the usage that was counted, so that late usage is priced after it. It gets no number, no tax and no ledger
 * entry. Amounts carried over to the customer's next invoice are left untouched, unless they are large enough to be
 * charged.
 */
export async function staysDraft(
  { sql, providerId }: UnitOfWork,
  { customerRef, currency }: CarriedAmountKey,
  lines: readonly InvoiceLine[],
): Promise<boolean> {
  if (lines.some(({ amountMinor }) => amountMinor !== 0n)) return false
  const { issueZeroInvoices } = await findMerchant(sql, providerId)
  if (issueZeroInvoices === true) return false
  const waitingMinor = await readCarried(sql, providerId, { customerRef, currency })
  return decideDue(waitingMinor, currency).dueMinor === 0n
}
