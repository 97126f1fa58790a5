import type { ReactElement } from 'react'
import type { TaxBreakdown } from '@tollgate/domain/invoices/tax-breakdown'
import type { IntentDiscount } from '@tollgate/domain/payments/payment-intent'
import { priceLine } from '@tollgate/domain/pricing/price-line'
import { taxNameIn, taxPlace } from '@tollgate/domain/tax/tax-countries'
import type { Reader } from '../reader.ts'

export type SumLine = { readonly label: string; readonly amountMinor: bigint }

/** Returns a line for each discount, with a negative amount. */
export function discountSums(discounts: readonly IntentDiscount[]): SumLine[] {
  return discounts.map(({ inputs, description }) => ({
    label: description,
    amountMinor: priceLine(inputs).amountMinor,
  }))
}

type SumsProps = {
  readonly lines: readonly SumLine[]
  /** Total of the lines. */
  readonly priceMinor: bigint
  readonly currency: string
  /** Null if the tax is unknown or was not computed. */
  readonly tax: TaxBreakdown | null
  /** The part that the customer's credit pays. */
  readonly creditMinor?: bigint
  readonly totalLabel: string
  readonly reader: Reader
}

/** The amounts to pay, line by line, with tax and total. */
export function Sums(props: SumsProps) {
  const { lines, priceMinor, currency, tax, creditMinor = 0n, totalLabel, reader } = props
  const { money } = reader.formats
  const isAdded = tax?.treatment === 'standard' && !tax.isInclusive
  return (
    <>
      <dl className="sums">
        {lines.map(({ label, amountMinor }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd className="whole">{money(amountMinor, currency)}</dd>
          </div>
        ))}
        {isAdded && (
          <div>
            <dt>{taxText(tax, reader)}</dt>
            <dd className="whole">{money(tax.taxMinor, currency)}</dd>
          </div>
        )}
        {creditMinor > 0n && (
          <div>
            <dt>{reader.t('checkout:yourCredit')}</dt>
            <dd className="whole">{money(-creditMinor, currency)}</dd>
          </div>
        )}
        <div className="total">
          <dt>{totalLabel}</dt>
          <dd className="whole">
            {money((tax?.totalMinor ?? priceMinor) - creditMinor, currency)}
          </dd>
        </div>
      </dl>
      <TaxNote tax={tax} currency={currency} reader={reader} />
    </>
  )
}

type TaxNoteProps = Pick<SumsProps, 'tax' | 'currency' | 'reader'>

function TaxNote({ tax, currency, reader }: TaxNoteProps): ReactElement | null {
  const { t, formats } = reader
  if (tax?.treatment === 'reverse_charge') {
    return <p className="quiet small">{t('checkout:reverseCharge')}</p>
  }
  if (tax?.treatment !== 'standard' || !tax.isInclusive) return null
  const amount = formats.money(tax.taxMinor, currency)
  return (
    <p className="quiet small">
      {t('checkout:includesTax', { tax: taxText(tax, reader), amount })}
    </p>
  )
}

function taxText(tax: TaxBreakdown, { t, formats }: Reader): string {
  const rate = formats.percent(Number(tax.ratePerMille) / 1_000)
  const taxName = taxNameIn(tax.country)
  const name = taxName === 'VAT' ? t('checkout:vat') : taxName
  const place = taxPlace(tax)
  return place === ''
    ? t('checkout:tax', { name, rate })
    : t('checkout:taxIn', { name, rate, place })
}
