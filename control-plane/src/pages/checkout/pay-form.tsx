import type { ReactElement } from 'react'
import type { Plan } from '@tollgate/domain/plans/plan'
import { currenciesOf, pricesIn } from '@tollgate/domain/pricing/plan-prices'
import { PostForm } from '../post-form.tsx'
import { priceWords } from '../purchase-words.ts'
import { BillingFields } from './billing-fields.tsx'
import type { Checkout } from './checkout.ts'
import { Due, PayButtons } from './due.tsx'
import type { Billing, PricedChoice } from './read-billing.ts'
import type { SumLine } from './sums.tsx'

type PayFormProps = {
  readonly checkout: Checkout
  readonly plan: Plan
  /** Whether the set-up fee is due. */
  readonly isFirst: boolean
  readonly billing: Billing
  readonly priced: Extract<PricedChoice, { kind: 'priced' }>
}

/** For a plan that is paid first: what is due now, and what comes after it. */
export function PayForm(props: PayFormProps): ReactElement {
  const { checkout, plan, billing, priced } = props
  const { currency, tax } = priced
  const renewal = renewalWords(props)
  const isPlusTax = tax?.treatment === 'standard' && !tax.isInclusive
  return (
    <section className="card" aria-label="What is due">
      <Currencies checkout={checkout} plan={plan} currency={currency} />
      <PostForm page={checkout} path="/pay" isUpdated>
        <input type="hidden" name="plan" value={plan.reference} />
        <input type="hidden" name="currency" value={currency} />
        <BillingFields billing={billing} />
        <Due
          lines={linesOf(props)}
          priced={priced}
          billing={billing}
          formats={checkout.frame.formats}
        >
          {plan.type !== 'one-time' && (
            <p className="quiet">
              {`Renews at ${renewal}${isPlusTax ? ' plus VAT' : ''} until you cancel. Your card is kept for that.`}
            </p>
          )}
        </Due>
        <PayButtons />
      </PostForm>
    </section>
  )
}

function linesOf({ plan, isFirst, priced }: PayFormProps): SumLine[] {
  const { priceMinor, currency } = priced
  const prices = pricesIn(plan, currency)
  const planMinor = prices?.priceMinor ?? 0n
  const setupMinor = isFirst ? (prices?.setupFeeMinor ?? 0n) : 0n
  const otherMinor = priceMinor - planMinor - setupMinor
  return [
    { label: plan.name, amountMinor: planMinor },
    ...(setupMinor > 0n ? [{ label: 'Set-up, once', amountMinor: setupMinor }] : []),
    ...(otherMinor === 0n ? [] : [{ label: 'For the plan you have', amountMinor: otherMinor }]),
  ]
}

function renewalWords({ checkout, plan, priced: { currency } }: PayFormProps): string {
  const price = Number(pricesIn(plan, currency)?.priceMinor ?? 0n)
  const inCurrency = { priceMinor: price, basePriceMinor: price, currency }
  return priceWords({ ...plan, ...inCurrency }, checkout.frame.formats)
}

type CurrenciesProps = Pick<PayFormProps, 'checkout' | 'plan'> & { readonly currency: string }

function Currencies({ checkout, plan, currency }: CurrenciesProps): ReactElement | null {
  const currencies = currenciesOf(plan)
  if (currencies.length === 1) return null
  return (
    <nav className="row" aria-label="Currency">
      <span className="quiet">Pay in</span>
      {currencies.map((code) => (
        <a
          key={code}
          href={`${checkout.path}?plan=${encodeURIComponent(plan.reference)}&currency=${code}`}
          aria-current={code === currency ? 'true' : undefined}
        >
          {code}
        </a>
      ))}
    </nav>
  )
}
