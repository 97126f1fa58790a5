import { invoiceCarried, invoiceIssued, type IssuedInvoice } from '../money-ledger/postings.ts'
import { postMoney } from '../money-ledger/post-money.ts'
import { decideDue } from '../pricing/decide-due.ts'
import { totalOf } from '../pricing/invoice-line.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { addCarried } from './carried-amounts.ts'
import type { Invoice, InvoiceParties, InvoiceWithLines } from './invoice.ts'
import { moveInvoice } from './move-invoice.ts'
import { takeNumber } from './numbers.ts'
import { markIssued } from './repository.ts'

/**
 * Issues a draft whose row the caller has locked or has just made: from here on it is owed, and the ledger says so. What
 * is too little to be charged, or a credit, moves on to the customer's next invoice at once. The number comes last of
 * all, since others wait for it until this transaction ends.
 */
export async function issueInvoice(
  work: UnitOfWork,
  draft: InvoiceWithLines,
  parties: InvoiceParties,
): Promise<Invoice> {
  const { sql, providerId, now } = work
  const { dueMinor, carriedMinor, isHeld } = decideDue(draft.totalMinor, draft.currency)
  await postMoney(work, invoiceIssued(issuedOf(draft)))
  const number = await takeNumber(sql, providerId, 'invoice')
  const issued = { ...draft, number, parties, issuedAt: now, isHeld: isHeld && dueMinor > 0n }
  await markIssued(sql, providerId, issued)
  const open = await moveInvoice(work, issued, 'issued')
  return carriedMinor === 0n ? open : carryOver(work, open, carriedMinor, 'issue')
}

/**
 * Moves part of what is due, or a credit, on to the customer's next invoice: also where the processor refuses an amount
 * as too small that is not small by our table. `step` tells one such move of an invoice from the next.
 */
export async function carryOver(
  work: UnitOfWork,
  invoice: Invoice,
  amountMinor: bigint,
  step: string,
): Promise<Invoice> {
  const { reference: invoiceRef, customerRef, currency } = invoice
  const carried = await moveInvoice(work, invoice, 'carried', amountMinor)
  await postMoney(work, invoiceCarried({ invoiceRef, customerRef, currency, amountMinor, step }))
  await addCarried(work.sql, work.providerId, { customerRef, currency }, amountMinor, work.now)
  return carried
}

/** What an invoice is to the ledger. */
export function issuedOf({
  reference,
  customerRef,
  currency,
  lines,
}: InvoiceWithLines): IssuedInvoice {
  const carriedIn = lines.filter(({ inputs }) => inputs.kind === 'carried_in')
  const charged = lines.filter(({ inputs }) => inputs.kind !== 'carried_in')
  return {
    reference,
    customerRef,
    currency,
    chargedMinor: totalOf(charged),
    carriedInMinor: totalOf(carriedIn),
  }
}
