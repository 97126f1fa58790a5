import type { ReactElement } from 'react'
import { renews, type Plan } from '@tollgate/domain/plans/plan'
import { currenciesOf, pricesIn } from '@tollgate/domain/pricing/plan-prices'
import { chargesUsageLater } from '@tollgate/domain/pricing/billed-charges'
import type { PlanSwitch } from '@tollgate/domain/purchases/decide-switch'
import { PostForm } from '../post-form.tsx'
import { BillingFields } from './billing-fields.tsx'
import { cardName, type NamedCard } from '../card-name.ts'
import { stepPath, type Checkout } from './checkout.ts'
import { CurrencyChoice } from './currency-choice.tsx'
import { AmountDue, PayButtons } from './amount-due.tsx'
import type { NextCharge } from './next-charge.ts'
import { changeLines, NextChargeLine } from './order-summary.tsx'
import { planPrice } from './plan-price.ts'
import type { Billing, PricedChoice } from './read-billing.ts'
import type { SumLine } from './sums.tsx'

export type PayFormProps = {
  readonly checkout: Checkout
  readonly plan: Plan
  /** Whether the set-up fee is due. */
  readonly isFirstCharge: boolean
  readonly billing: Billing
  readonly priced: Extract<PricedChoice, { kind: 'priced' }>
  /** Undefined means that the payment is for a period of its own. */
  readonly change: PlanSwitch | undefined
  readonly next: NextCharge | undefined
  readonly savedCard: NamedCard | undefined
}

/** The form for a plan that is paid first: what is due now, and what is charged later. */
export function PayForm(props: PayFormProps): ReactElement {
  const { checkout, plan, billing, priced } = props
  const { currency } = priced
  const { frame } = checkout
  return (
    <section className="card" aria-label={frame.t('checkout:whatIsDue')}>
      <CurrencyChoice
        reader={frame}
        currencies={currenciesOf(plan)}
        current={currency}
        pathOf={(code) => stepPath(checkout, { plan: plan.reference, currency: code })}
      />
      <PostForm page={checkout} path="/pay" isUpdated>
        <input type="hidden" name="plan" value={plan.reference} />
        <input type="hidden" name="currency" value={currency} />
        <BillingFields billing={billing} reader={frame} />
        <AmountDue lines={sumLinesOf(props)} priced={priced} billing={billing} reader={frame}>
          <LaterCharges {...props} />
        </AmountDue>
        <PayButtons reader={frame} paidBy={payerOf(priced)} />
      </PostForm>
    </section>
  )
}

/** What is charged later, and for what purpose the card is saved. */
function LaterCharges(props: PayFormProps): ReactElement {
  const { checkout, priced, next, savedCard } = props
  const { frame } = checkout
  const { t } = frame
  const { tax } = priced
  const isPlusTax = tax?.treatment === 'standard' && !tax.isInclusive
  return (
    <>
      <NextChargeLine next={next && { ...next, isPlusTax }} reader={frame} />
      <p className="quiet">{laterText(props, isPlusTax)}</p>
      {savedCard !== undefined && payerOf(priced) === 'card' && (
        <p className="quiet">
          {t('checkout:replacesSavedCard', { card: cardName(savedCard, frame) })}
        </p>
      )}
    </>
  )
}

function payerOf({
  priceMinor,
  tax,
  creditMinor,
}: PayFormProps['priced']): 'card' | 'credit' | 'nothing' {
  const totalMinor = tax?.totalMinor ?? priceMinor
  if (totalMinor === 0n) return 'nothing'
  return creditMinor === totalMinor ? 'credit' : 'card'
}

function laterText({ checkout, plan, priced, next }: PayFormProps, isPlusTax: boolean): string {
  const { t } = checkout.frame
  if (renews(plan)) {
    // The next period can have another price than the first one.
    const price = planPrice(next?.plan ?? plan, priced.currency, checkout.frame)
    return t(isPlusTax ? 'checkout:renewsPlusTax' : 'checkout:renews', { price })
  }
  if (chargesUsageLater(plan)) return t('checkout:billedWhenEnded')
  return t(plan.type === 'one-time' ? 'checkout:paidOnce' : 'checkout:endsByItself')
}

function sumLinesOf({ checkout, plan, isFirstCharge, priced, change }: PayFormProps): SumLine[] {
  const { t } = checkout.frame
  if (change !== undefined) return changeLines(plan.name, change, checkout.frame)
  const { priceMinor, currency, discounts } = priced
  const listMinor = discounts.reduce((sum, { amountMinor }) => sum - amountMinor, priceMinor)
  const prices = pricesIn(plan, currency)
  const setupMinor = isFirstCharge ? (prices?.setupFeeMinor ?? 0n) : 0n
  return [
    { label: plan.name, amountMinor: listMinor - setupMinor },
    ...(setupMinor > 0n ? [{ label: t('checkout:setupFee'), amountMinor: setupMinor }] : []),
    ...discounts,
  ]
}
