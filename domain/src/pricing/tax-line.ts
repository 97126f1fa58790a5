import { taxNameIn, taxPlace } from '../tax/tax-countries.ts'
import type { TaxTerms } from '../tax/tax-rule.ts'
import { invoiceLine, totalOf, type InvoiceLine } from './invoice-line.ts'
import type { LineInputs, TaxCharge } from './line-inputs.ts'
import { priceLine } from './price-line.ts'

/**
 * Returns the tax line of everything that an invoice charges, rounded once. Empty if the provider collects no tax. `lines` does not
 * contain amounts carried over from earlier invoices, because those were taxed there.
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
    ...(rule.region !== undefined && { region: rule.region }),
    ratePerMille: rule.ratePerMille,
    ...(rule.parts !== undefined && { parts: [...rule.parts] }),
    baseMinor: baseMinor.toString(),
    isInclusive,
  }
  return [invoiceLine(inputs, describeTax(inputs), null)]
}

/** Returns a text like `VAT 25.5 % (FI)`, `GST/HST 13 % (CA-ON)` or, by a tax service, `State tax, County tax 7.25 % (US)`. */
function describeTax({ treatment, ratePerMille, parts, ...at }: TaxCharge): string {
  const place = at.country === null ? '' : ` (${taxPlace(at)})`
  const name = parts?.map(({ label }) => label).join(', ') || taxNameIn(at.country)
  switch (treatment) {
    case 'standard':
      return `${name} ${Number(ratePerMille) / 10} %${place}`
    case 'reverse_charge':
      return `${name}, reverse charge${place}`
    case 'none':
      return `No ${name}${place}`
  }
}

/** Returns the tax among an invoice's charges, whether it was added to the prices or is contained in them. */
export function totalTaxMinor(
  lines: readonly { readonly inputs: LineInputs; readonly amountMinor: bigint }[],
): bigint {
  return lines.reduce(
    (sum, { inputs, amountMinor }) => (inputs.kind === 'tax' ? sum + amountMinor : sum),
    0n,
  )
}

/** Returns the tax on a part of the base of a tax line. Rounded once. */
export function taxMinorOnBase(tax: TaxCharge, baseMinor: bigint): bigint {
  return priceLine({ ...tax, baseMinor: baseMinor.toString() }).amountMinor
}

/** Returns the base of a tax line without the tax. */
export function netBaseOf({ baseMinor, isInclusive }: TaxCharge, taxMinor: bigint): bigint {
  return BigInt(baseMinor) - (isInclusive ? taxMinor : 0n)
}
