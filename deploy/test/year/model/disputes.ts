import { carriersOf } from './chains.ts'
import type { ModelInvoice } from './invoices.ts'
import type { ModelPurchase } from './records.ts'

/**
 * Whether a bank has taken back a payment of the purchase for good, and no later one by another card carries it: that of its
 * newest period, of the last bill of its usage where its periods cost nothing beforehand, or one that it was bought with.
 */
export function isChargedBack(purchase: ModelPurchase): boolean {
  const invoices = carriersOf(purchase).flatMap((each) => each.invoices)
  const carrying = carryingOf(invoices).filter(
    ({ isLost, paid, refunded }) => !isLost && paid > refunded,
  )
  return invoices.some(
    (taken) =>
      taken.isLost &&
      !carrying.some(({ paidAt, paidBy }) => paidAt! > taken.paidAt! && paidBy !== taken.paidBy),
  )
}

function carryingOf(invoices: readonly ModelInvoice[]): ModelInvoice[] {
  for (const kind of ['recurring', 'usage'] as const) {
    const starts = invoices.flatMap((invoice) => startOf(invoice, kind) ?? [])
    if (starts.length === 0) continue
    const newest = Math.max(...starts)
    return invoices.filter((each) => each.paid > 0n && startOf(each, kind) === newest)
  }
  return invoices.filter(({ isSale }) => isSale)
}

/** Where the period begins that the invoice charges; a void one charges none. */
function startOf({ status, lines }: ModelInvoice, kind: 'recurring' | 'usage'): number | undefined {
  return status === 'void' ? undefined : lines.find((line) => line.kind === kind)?.start
}
