import type { TaxTerms } from '../tax/tax-rule.ts'
import { invoiceLine, totalOf, type InvoiceLine } from './invoice-line.ts'
import type { LineInputs, TaxCharge } from './line-inputs.ts'
import { priceLine } from './price-line.ts'

/**
 * The tax of everything that an invoice charges, as one line that is rounded once; none where the provider collects no
 * tax. What earlier invoices left was taxed there: it is not among `lines`.
 */
export function taxLines(
  lines: readonly InvoiceLine[],
  { rule, isInclusive }: TaxTerms,
): InvoiceLine[] {
  const baseMinor = totalOf(lines)
  if (baseMinor === 0n || rule.treatment === 'not_collecting') return []
  const inputs: TaxCharge = {
    kind: 'tax',
    treatment: rule.treatment,
    country: rule.country,
    ratePerMille: rule.ratePerMille.toString(),
    baseMinor: baseMinor.toString(),
    isInclusive,
  }
  return [invoiceLine(inputs, describeTax(inputs), null)]
}

/** `VAT 25.5 % (FI)` */
function describeTax({ treatment, ratePerMille, country }: TaxCharge): string {
  const place = country === null ? '' : ` (${country})`
  switch (treatment) {
    case 'standard':
      return `VAT ${Number(ratePerMille) / 10} %${place}`
    case 'reverse_charge':
      return `VAT, reverse charge${place}`
    case 'none':
      return `No VAT${place}`
  }
}

/** What of an invoice's charges is tax, whether it was added to prices or is contained in them. */
export function taxMinorOf(
  lines: readonly { readonly inputs: LineInputs; readonly amountMinor: bigint }[],
): bigint {
  return lines.reduce(
    (sum, { inputs, amountMinor }) => (inputs.kind === 'tax' ? sum + amountMinor : sum),
    0n,
  )
}

/** What of a line's tax falls on part of what it is the tax of. Rounded once. */
export function taxMinorOn(tax: TaxCharge, baseMinor: bigint): bigint {
  return priceLine({ ...tax, baseMinor: baseMinor.toString() }).amountMinor
}

/** What a line's tax is of, without the tax. */
export function netBaseOf({ baseMinor, isInclusive }: TaxCharge, taxMinor: bigint): bigint {
  return BigInt(baseMinor) - (isInclusive ? taxMinor : 0n)
}
