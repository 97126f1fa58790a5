import { carriedInLines } from '../pricing/charges.ts'
import type { InvoiceLine } from '../pricing/invoice-line.ts'
import { taxLines } from '../pricing/tax-line.ts'
import type { TaxTerms } from '../tax/tax-rule.ts'

/**
 * Returns the lines of an invoice in their order: what it charges, the tax on that, and the amount carried over from the customer's
 * earlier invoices, in minor units.
 */
export function draftLines(
  charged: readonly InvoiceLine[],
  tax: readonly InvoiceLine[],
  carriedInMinor: bigint,
): InvoiceLine[] {
  return [...charged, ...tax, ...carriedInLines(carriedInMinor)]
}

/**
 * Returns the lines of an invoice that was paid before it was made. It totals exactly the amount that was charged, which is what the
 * customer's credit of `fromBalanceMinor` had left.
 */
export function paidLines(
  charged: readonly InvoiceLine[],
  paidWith: TaxTerms | 'no tax',
  fromBalanceMinor: bigint,
): readonly InvoiceLine[] {
  const tax = paidWith === 'no tax' ? [] : taxLines(charged, paidWith)
  return draftLines(charged, tax, -fromBalanceMinor)
}
