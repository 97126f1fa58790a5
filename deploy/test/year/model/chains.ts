import type { ModelInvoice } from './invoices.ts'
import type { ModelPurchase } from './records.ts'

/* Purchases that go on with one another's period, each for the difference. */

/** Those that went on with its period, one behind the other; each was charged the difference. */
export function carriedBy(
  purchases: readonly ModelPurchase[],
  purchase: ModelPurchase,
): ModelPurchase[] {
  const next = purchases.find(({ before, anchor, invoices }) => {
    return before === purchase && anchor === purchase.anchor && !invoices.some(chargesPeriod)
  })
  return next === undefined ? [] : [next, ...carriedBy(purchases, next)]
}

/** Whether it charges for a period of its own. */
export function chargesPeriod({ isSale, period, lines, status }: ModelInvoice): boolean {
  if (status === 'void') return false
  return period !== undefined || (isSale && lines.some(({ kind }) => kind === 'recurring'))
}

/** Itself, and those before it whose period it goes on with. */
export function carriersOf(purchase: ModelPurchase): ModelPurchase[] {
  const { before, anchor, invoices } = purchase
  if (before === undefined || before.anchor !== anchor || invoices.some(chargesPeriod)) {
    return [purchase]
  }
  return [purchase, ...carriersOf(before)]
}
