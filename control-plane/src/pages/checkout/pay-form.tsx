import type { ReactElement } from 'react'
import { renews, type Plan } from '@tollgate/domain/plans/plan'
import { currenciesOf, pricesIn } from '@tollgate/domain/pricing/plan-prices'
import { costsSomething, usageTermsOf } from '@tollgate/domain/pricing/usage-terms'
import { PostForm } from '../post-form.tsx'
import { priceWords } from '../purchase-words.ts'
import { BillingFields } from './billing-fields.tsx'
import { stepPath, type Checkout } from './checkout.ts'
import { Due, PayButtons } from './due.tsx'
import type { Billing, PricedChoice } from './read-billing.ts'
import type { SumLine } from './sums.tsx'

type PayFormProps = {
  readonly checkout: Checkout
  readonly plan: Plan
  /** Whether the set-up fee is due. */
  readonly isFirstCharge: boolean
  readonly billing: Billing
  readonly priced: Extract<PricedChoice, { kind: 'priced' }>
}

/** For a plan that is paid first: what is due now, and what comes after it. */
export function PayForm(props: PayFormProps): ReactElement {
  const { checkout, plan, billing, priced } = props
  const { currency } = priced
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
          <Afterwards {...props} />
        </Due>
        <PayButtons />
      </PostForm>
    </section>
  )
}

/** What is charged later, and what for the card is kept. */
function Afterwards(props: PayFormProps): ReactElement {
  const { plan, priced } = props
  if (renews(plan)) {
    const { tax } = priced
    const isPlusTax = tax?.treatment === 'standard' && !tax.isInclusive
    return (
      <p className="quiet">
        {`Renews at ${renewalWords(props)}${isPlusTax ? ' plus VAT' : ''} until you cancel. Your card is kept for that.`}
      </p>
    )
  }
  const billed = usageTermsOf(plan)
  const isBilled = billed !== undefined && costsSomething(billed)
  return (
    <p className="quiet">
      {isBilled
        ? 'It does not renew. What you use is billed when it has ended; your card is kept for that.'
        : `${plan.type === 'one-time' ? 'Paid once' : 'It does not renew'}: nothing more is charged for it. Your card is kept in your account, where you can remove it.`}
    </p>
  )
}

function linesOf({ plan, isFirstCharge, priced }: PayFormProps): SumLine[] {
  const { priceMinor, currency } = priced
  const prices = pricesIn(plan, currency)
  const planMinor = prices?.priceMinor ?? 0n
  const setupMinor = isFirstCharge ? (prices?.setupFeeMinor ?? 0n) : 0n
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
  return priceWords({ ...plan, ...inCurrency }, checkout.frame)
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
          href={stepPath(checkout, { plan: plan.reference, currency: code })}
          aria-current={code === currency ? 'true' : undefined}
        >
          {code}
        </a>
      ))}
    </nav>
  )
}
