import { creditInvoice, sumCredited } from './credit-notes.ts'
import type { Invoice, InvoiceWithLines } from './invoice.ts'
import { carryOver } from './issue-invoice.ts'
import { lockInvoice } from './repository.ts'
import type { LineKind } from '../pricing/line-inputs.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'

const prepaidKinds: ReadonlySet<LineKind> = new Set(['recurring', 'setup_fee'])

/**
 * Credits the price of a period that will not begin on an open invoice that also charges usage. The caller has locked
 * the invoice's row. If a carried credit was to pay part of the price, the amount due is less than the price. In that
 * case the amount due and the credit note both move to the customer's next invoice, so the customer keeps the rest of
 * the credit.
 */
export async function creditObsoletePeriod(
  work: UnitOfWork,
  invoice: InvoiceWithLines,
): Promise<Invoice> {
  const { sql, providerId } = work
  const { reference } = invoice
  const credited = await sumCredited(sql, providerId, reference)
  const lines = invoice.lines.flatMap(({ inputs, amountMinor: chargedMinor }, line) => {
    const amountMinor = chargedMinor - (credited.get(line) ?? 0n)
    return prepaidKinds.has(inputs.kind) && amountMinor > 0n ? [{ line, amountMinor }] : []
  })
  if (lines.length === 0) return invoice
  const part = { lines, reason: 'the period does not begin' }
  const taken = await creditInvoice(work, invoice, { ...part, settles: 'invoice' })
  if (taken.kind === 'not-due') {
    const settled = await carryOver(work, invoice, taken.dueMinor, 'unbegun')
    const kept = await creditInvoice(work, settled, { ...part, settles: 'balance' })
    if (kept.kind !== 'credited')
      throw new Error(`invoice ${reference} could not be credited: ${kept.kind}`)
  } else if (taken.kind !== 'credited') {
    throw new Error(`invoice ${reference} could not be credited: ${taken.kind}`)
  }
  return (await lockInvoice(sql, providerId, reference)) ?? invoice
}
