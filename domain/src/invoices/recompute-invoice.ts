import { priceLine } from '../pricing/price-line.ts'
import { isContained, type InvoiceLine } from '../pricing/invoice-line.ts'
import type { InvoiceWithLines } from './invoice.ts'

export type PriceDiscrepancy =
  /** Pricing line `line` again gives another amount. */
  | { readonly kind: 'line'; readonly line: number; readonly amountMinor: bigint }
  | { readonly kind: 'total'; readonly totalMinor: bigint }

/**
 * Prices an invoice again from the stored inputs of its lines, and returns all differences. Amounts, exact fractions
 * and rounding residuals must match.
 */
export function recomputeInvoice(
  invoice: Pick<InvoiceWithLines, 'lines' | 'totalMinor'>,
): PriceDiscrepancy[] {
  const found: PriceDiscrepancy[] = []
  let totalMinor = 0n
  for (const [line, stored] of invoice.lines.entries()) {
    const { amountMinor, exact, residualNumerator } = priceLine(stored.inputs)
    if (!isContained(stored)) totalMinor += amountMinor
    const isSame =
      amountMinor === stored.amountMinor &&
      isSameFraction(exact, stored.exact) &&
      residualNumerator * stored.exact.denominator === stored.residualNumerator * exact.denominator
    if (!isSame) found.push({ kind: 'line', line, amountMinor })
  }
  if (totalMinor !== invoice.totalMinor) found.push({ kind: 'total', totalMinor })
  return found
}

function isSameFraction(one: InvoiceLine['exact'], other: InvoiceLine['exact']): boolean {
  return one.numerator * other.denominator === other.numerator * one.denominator
}
