import { predecessorsOf } from './chains.ts'
import type { ModelInvoice } from './invoices.ts'
import type { ModelPurchase } from './records.ts'

/**
 * Returns whether a lost dispute withdrew a payment of the purchase that no later payment with another card replaces: that of its
 * newest period, of its last usage bill if its periods cost nothing in advance, or the payment that bought it.
 */
export function isChargedBack(purchase: ModelPurchase): boolean {
  const invoices = predecessorsOf(purchase).flatMap((each) => each.invoices)
  const carrying = payingInvoices(invoices).filter(
    ({ isLost, paid, refunded }) => !isLost && paid > refunded,
  )
  return invoices.some(
    (taken) =>
      taken.isLost &&
      !carrying.some(({ paidAt, paidBy }) => paidAt! > taken.paidAt! && paidBy !== taken.paidBy),
  )
}

function payingInvoices(invoices: readonly ModelInvoice[]): ModelInvoice[] {
  for (const kind of ['recurring', 'usage'] as const) {
    const starts = invoices.flatMap((invoice) => startOf(invoice, kind) ?? [])
    if (starts.length === 0) continue
    const newest = Math.max(...starts)
    return invoices.filter((each) => each.paid > 0n && startOf(each, kind) === newest)
  }
  return invoices.filter(({ isSale }) => isSale)
}

/** Returns the start of the period that the invoice charges. A void invoice charges none. */
function startOf({ status, lines }: ModelInvoice, kind: 'recurring' | 'usage'): number | undefined {
  return status === 'void' ? undefined : lines.find((line) => line.kind === kind)?.start
}
