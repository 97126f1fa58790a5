import type { ReactElement } from 'react'
import type { TaxBreakdown } from '@tollgate/domain/tax/tax-breakdown'
import type { Formats } from '../formats.ts'

export type SumLine = { readonly label: string; readonly amountMinor: bigint }

type SumsProps = {
  readonly lines: readonly SumLine[]
  /** What the lines come to. */
  readonly priceMinor: bigint
  readonly currency: string
  /** Null where it is not known, or nobody asked. */
  readonly tax: TaxBreakdown | null
  readonly totalLabel: string
  readonly formats: Formats
}

/** What is paid, line by line. */
export function Sums({ lines, priceMinor, currency, tax, totalLabel, formats }: SumsProps) {
  const { money } = formats
  const isAdded = tax?.treatment === 'standard' && !tax.isInclusive
  return (
    <>
      <dl className="sums">
        {lines.map(({ label, amountMinor }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{money(amountMinor, currency)}</dd>
          </div>
        ))}
        {isAdded && (
          <div>
            <dt>{taxWords(tax, formats)}</dt>
            <dd>{money(tax.taxMinor, currency)}</dd>
          </div>
        )}
        <div className="total">
          <dt>{totalLabel}</dt>
          <dd>{money(tax?.totalMinor ?? priceMinor, currency)}</dd>
        </div>
      </dl>
      <TaxNote tax={tax} currency={currency} formats={formats} />
    </>
  )
}

type TaxNoteProps = Pick<SumsProps, 'tax' | 'currency' | 'formats'>

function TaxNote({ tax, currency, formats }: TaxNoteProps): ReactElement | null {
  if (tax?.treatment === 'reverse_charge') {
    return <p className="quiet small">Reverse charge: your business accounts for the VAT itself.</p>
  }
  if (tax?.treatment !== 'standard' || !tax.isInclusive) return null
  const amount = formats.money(tax.taxMinor, currency)
  return <p className="quiet small">{`Includes ${taxWords(tax, formats)}: ${amount}`}</p>
}

function taxWords({ ratePerMille, country }: TaxBreakdown, { count }: Formats): string {
  const place = country === null ? '' : ` (${country})`
  return `VAT ${count(Number(ratePerMille) / 10)}%${place}`
}
