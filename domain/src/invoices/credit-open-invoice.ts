import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { creditInvoice, type CreditRequest } from './credit-notes.ts'
import type { InvoiceWithLines } from './invoice.ts'
import { carryOver } from './issue-invoice.ts'

/**
 * Credits part of an open invoice, which the caller has locked. If a carried credit was to pay some of that part, the amount due is
 * less. In that case the amount due and the credit note both move to the customer's next invoice, so the customer keeps the rest of
 * the credit. The whole credit of a paid invoice moves to the customer's next invoice. `step` distinguishes this move from others of the invoice.
 */
export async function creditOpenInvoice(
  work: UnitOfWork,
  invoice: InvoiceWithLines,
  part: Omit<CreditRequest, 'settles'>,
  step: string,
): Promise<void> {
  const taken = await creditInvoice(work, invoice, { ...part, settles: 'invoice' })
  if (taken.kind === 'credited') return
  const isDue = taken.kind === 'not-due' && taken.dueMinor > 0n
  const settled = isDue ? await carryOver(work, invoice, taken.dueMinor, step) : invoice
  const kept = await creditInvoice(work, settled, { ...part, settles: 'balance' })
  if (kept.kind !== 'credited') {
    throw new Error(`invoice ${invoice.reference} could not be credited: ${kept.kind}`)
  }
}
