import { findMerchant, type Merchant } from '../merchants/repository.ts'
import { decideDue } from '../pricing/decide-due.ts'
import type { InvoiceLine } from '../pricing/invoice-line.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { readCarried, type CarriedAmountKey } from './carried-amounts.ts'

/** The facts that decide whether lines that cost nothing are invoiced. */
export type DraftFacts = Pick<Merchant, 'issueZeroInvoices'> & {
  /** Carried over to the customer's next invoice in the currency, minor units. */
  readonly waitingMinor: bigint
  readonly currency: string
}

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
  if (!costNothing(lines)) return false
  const { issueZeroInvoices } = await findMerchant(sql, providerId)
  const waitingMinor = await readCarried(sql, providerId, { customerRef, currency })
  return decideStaysDraft(lines, { issueZeroInvoices, waitingMinor, currency })
}

export function decideStaysDraft(
  lines: readonly InvoiceLine[],
  { issueZeroInvoices, waitingMinor, currency }: DraftFacts,
): boolean {
  if (!costNothing(lines) || issueZeroInvoices === true) return false
  return decideDue(waitingMinor, currency).dueMinor === 0n
}

function costNothing(lines: readonly InvoiceLine[]): boolean {
  return lines.every(({ amountMinor }) => amountMinor === 0n)
}
