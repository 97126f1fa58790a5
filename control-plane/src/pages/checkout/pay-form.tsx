import type { ReactElement } from 'react'
import type { Plan } from '@tollgate/domain/plans/plan'
import { currenciesOf, pricesIn } from '@tollgate/domain/pricing/plan-prices'
import { priceWords } from '../purchase-words.ts'
import { PostForm } from '../post-form.tsx'
import type { Checkout } from './checkout.ts'

type PayFormProps = {
  readonly checkout: Checkout
  readonly plan: Plan
  /** Upper case; one that the plan is sold in. */
  readonly currency: string
  /** Whether the set-up fee is due. */
  readonly isFirst: boolean
}

/** For a plan that is paid first: what is due now, and what comes after it. */
export function PayForm({ checkout, plan, currency, isFirst }: PayFormProps): ReactElement {
  const { money } = checkout.frame.formats
  const prices = pricesIn(plan, currency)
  const priceMinor = prices?.priceMinor ?? 0n
  const setupMinor = isFirst ? (prices?.setupFeeMinor ?? 0n) : 0n
  return (
    <section className="card" aria-label="What is due">
      <Currencies checkout={checkout} plan={plan} currency={currency} />
      <dl className="sums">
        <div>
          <dt>{plan.name}</dt>
          <dd>{money(priceMinor, currency)}</dd>
        </div>
        {setupMinor > 0n && (
          <div>
            <dt>Set-up, once</dt>
            <dd>{money(setupMinor, currency)}</dd>
          </div>
        )}
        <div className="total">
          <dt>Due today</dt>
          <dd>{money(priceMinor + setupMinor, currency)}</dd>
        </div>
      </dl>
      {plan.type !== 'one-time' && (
        <p className="quiet">
          {`Renews at ${priceWords({ ...plan, ...inCurrency(priceMinor, currency) }, checkout.frame.formats)} until you cancel. Your card is kept for that.`}
        </p>
      )}
      <PostForm page={checkout} path="/pay">
        <input type="hidden" name="plan" value={plan.reference} />
        <input type="hidden" name="currency" value={currency} />
        <button className="button main broad" type="submit">
          Continue to payment
        </button>
      </PostForm>
    </section>
  )
}

function inCurrency(priceMinor: bigint, currency: string) {
  return { priceMinor: Number(priceMinor), basePriceMinor: Number(priceMinor), currency }
}

function Currencies({ checkout, plan, currency }: Omit<PayFormProps, 'isFirst'>) {
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
