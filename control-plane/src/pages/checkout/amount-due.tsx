import type { ReactElement, ReactNode } from 'react'
import type { Reader } from '../reader.ts'
import type { Billing, PricedChoice } from './read-billing.ts'
import { Sums, type SumLine } from './sums.tsx'

type AmountDueProps = {
  readonly lines: readonly SumLine[]
  readonly priced: Extract<PricedChoice, { kind: 'priced' }> | undefined
  readonly billing: Billing
  readonly reader: Reader
  readonly children?: ReactNode
}

/** The amount to pay: the part of a form that depends on its fields. */
export function AmountDue({
  lines,
  priced,
  billing,
  reader,
  children,
}: AmountDueProps): ReactElement {
  const { t } = reader
  return (
    <div className="stack" data-part="due" aria-live="polite">
      {priced !== undefined && (
        <Sums {...priced} lines={lines} totalLabel={t('checkout:dueToday')} reader={reader} />
      )}
      {billing.isNeeded && billing.details === undefined && (
        <p className="quiet small">{t('checkout:taxesDepend')}</p>
      )}
      {children}
    </div>
  )
}

type PayButtonsProps = {
  readonly reader: Reader
  /** What pays: a card, the customer's credit alone, or nothing because discounts leave nothing to pay. */
  readonly paidBy?: 'card' | 'credit' | 'nothing'
}

const payTexts = {
  card: 'checkout:continueToPayment',
  credit: 'checkout:payWithCredit',
  nothing: 'checkout:startNow',
} as const

export function PayButtons({ reader: { t }, paidBy = 'card' }: PayButtonsProps): ReactElement {
  return (
    <>
      <button className="button main broad" type="submit">
        {t(payTexts[paidBy])}
      </button>
      <noscript>
        <button
          className="button broad"
          type="submit"
          name="step"
          value="total"
          formNoValidate={true}
        >
          {t('checkout:updateTotal')}
        </button>
      </noscript>
    </>
  )
}
