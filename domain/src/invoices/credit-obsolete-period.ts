import { discountOn } from '../coupons/discount-lines.ts'
import { sumCredited } from './credit-notes.ts'
import { creditOpenInvoice } from './credit-open-invoice.ts'
import type { Invoice, InvoiceWithLines } from './invoice.ts'
import { lockInvoice } from './repository.ts'
import type { LineKind } from '../pricing/line-inputs.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'

const prepaidKinds: ReadonlySet<LineKind> = new Set(['recurring', 'add_on', 'setup_fee'])

/**
 * Credits the price of a period that will not begin on an open invoice that also charges usage or was paid in part, or on
 * a paid one. The caller has locked the invoice's row.
 */
export async function creditObsoletePeriod(
  work: UnitOfWork,
  invoice: InvoiceWithLines,
): Promise<Invoice> {
  const { sql, providerId } = work
  const { reference } = invoice
  const credited = await sumCredited(sql, providerId, reference)
  // What discounts took off the price is not given back. It is left out of the first lines.
  let offMinor = discountOn(invoice.lines, ({ inputs }) => prepaidKinds.has(inputs.kind))
  const lines = invoice.lines.flatMap(({ inputs, amountMinor: chargedMinor }, line) => {
    const ownMinor = chargedMinor - (credited.get(line) ?? 0n)
    if (!prepaidKinds.has(inputs.kind) || ownMinor <= 0n) return []
    const ownOffMinor = offMinor < ownMinor ? offMinor : ownMinor
    offMinor -= ownOffMinor
    const amountMinor = ownMinor - ownOffMinor
    return amountMinor > 0n ? [{ line, amountMinor }] : []
  })
  if (lines.length === 0) return invoice
  await creditOpenInvoice(work, invoice, { lines, reason: 'the period does not begin' }, 'unbegun')
  return (await lockInvoice(sql, providerId, reference)) ?? invoice
}
