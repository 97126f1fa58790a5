import type { ModelInvoice } from './invoices.ts'
import type { ModelPurchase } from './records.ts'

/* Purchases that continue the period of another one for the price difference. */

/** Returns the purchases that continued its period, one after the other. Each was charged the difference. */
export function continuationsOf(
  purchases: readonly ModelPurchase[],
  purchase: ModelPurchase,
): ModelPurchase[] {
  const next = purchases.find(({ before, anchor, invoices }) => {
    return before === purchase && anchor === purchase.anchor && !invoices.some(chargesPeriod)
  })
  return next === undefined ? [] : [next, ...continuationsOf(purchases, next)]
}

/** Returns whether the invoice charges a separate period. */
export function chargesPeriod({ isSale, period, lines, status }: ModelInvoice): boolean {
  if (status === 'void') return false
  return period !== undefined || (isSale && lines.some(({ kind }) => kind === 'recurring'))
}

/** Returns the purchase and the earlier ones whose period it continues. */
export function predecessorsOf(purchase: ModelPurchase): ModelPurchase[] {
  const { before, anchor, invoices } = purchase
  if (before === undefined || before.anchor !== anchor || invoices.some(chargesPeriod)) {
    return [purchase]
  }
  return [purchase, ...predecessorsOf(before)]
}
