import type { ReactElement } from 'react'
import type { DiscountedStart } from '@tollgate/domain/purposes/start-discounted'
import type { PlanSwitch } from '@tollgate/domain/purchases/decide-switch'
import { changeSharesOf } from '@tollgate/domain/purchases/unused-time'
import type { Reader } from '../reader.ts'
import { chargeText, type NextCharge } from './next-charge.ts'
import { discountSums, Sums, type SumLine } from './sums.tsx'

/** Returns the lines of a change of plan within a period. */
export function changeLines(
  planName: string,
  change: PlanSwitch,
  { t, formats }: Pick<Reader, 't' | 'formats'>,
): SumLine[] {
  const { restMinor, unusedMinor, setupMinor, discountMinor } = changeSharesOf(change)
  const date = formats.date(change.period.end)
  const replaced = change.from.planSnapshot?.name ?? change.from.productName
  const lines = [
    { label: t('checkout:planUntil', { plan: planName, date }), amountMinor: restMinor },
    { label: t('checkout:unusedTime', { plan: replaced }), amountMinor: -unusedMinor },
    { label: t('checkout:setupFee'), amountMinor: setupMinor },
    { label: t('checkout:discount'), amountMinor: discountMinor },
  ]
  return lines.filter(({ amountMinor }) => amountMinor !== 0n)
}

/** Returns the price of a plan and its discounts. */
export function discountedStartLines({ plan, priceMinor, discounts }: DiscountedStart): SumLine[] {
  return [{ label: plan.name, amountMinor: priceMinor }, ...discountSums(discounts)]
}

type OrderSummaryProps = {
  readonly reader: Reader
  readonly currency: string
  readonly planName: string
  readonly change: PlanSwitch | undefined
  /** The price of the plan and its discounts, which leave nothing to pay. */
  readonly lines: readonly SumLine[]
  readonly next: NextCharge | undefined
}

/** The cost of a plan that starts without a payment: what is due today, and what is charged later. */
export function OrderSummary(props: OrderSummaryProps): ReactElement {
  const { reader, currency, planName, change, next } = props
  const { t } = reader
  const lines = change === undefined ? props.lines : changeLines(planName, change, reader)
  const totalMinor =
    change === undefined
      ? lines.reduce((sum, { amountMinor }) => sum + amountMinor, 0n)
      : changeSharesOf(change).totalMinor
  const carried =
    totalMinor === 0n
      ? []
      : [
          {
            label: t(totalMinor < 0n ? 'checkout:creditedNext' : 'checkout:chargedNext'),
            amountMinor: totalMinor < 0n ? -totalMinor : totalMinor,
          },
        ]
  return (
    <div className="stack">
      <Sums
        {...{ currency, reader }}
        lines={[...lines, ...carried]}
        priceMinor={0n}
        tax={null}
        totalLabel={t('checkout:dueToday')}
      />
      <NextChargeLine next={next} reader={reader} />
    </div>
  )
}

type NextChargeLineProps = {
  readonly next: NextCharge | undefined
  readonly reader: Reader
}

export function NextChargeLine({ next, reader }: NextChargeLineProps): ReactElement | null {
  if (next === undefined) return null
  return (
    <dl className="sums">
      <div>
        <dt>{reader.t('checkout:nextCharge')}</dt>
        <dd>{chargeText(next, reader)}</dd>
      </div>
    </dl>
  )
}
