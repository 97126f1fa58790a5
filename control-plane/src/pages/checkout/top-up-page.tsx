import type { ReactElement } from 'react'
import type { Notice } from '../notice.tsx'
import { PostForm } from '../post-form.tsx'
import { BillingFields } from './billing-fields.tsx'
import type { Checkout } from './checkout.ts'
import { CheckoutPage } from './checkout-page.tsx'
import { Due, PayButtons } from './due.tsx'
import type { Billing, PricedChoice } from './read-billing.ts'

type TopUpFields = { readonly amount: string; readonly currency: string }

type TopUpPageProps = {
  readonly checkout: Checkout
  /** In which credits can be bought; the provider's own first. */
  readonly currencies: readonly string[]
  readonly typed: TopUpFields
  readonly billing: Billing
  /** Undefined while no amount was typed that could be paid. */
  readonly priced: Extract<PricedChoice, { kind: 'priced' }> | undefined
  readonly notice: Notice | undefined
}

export function TopUpPage(props: TopUpPageProps): ReactElement {
  const { checkout, currencies, typed, billing, priced, notice } = props
  const lines = priced === undefined ? [] : [{ label: 'Credits', amountMinor: priced.priceMinor }]
  return (
    <CheckoutPage checkout={checkout} title="Buy credits" notice={notice}>
      <h1>Buy credits</h1>
      <section className="card" aria-label="How much">
        <p className="quiet">Credits pay for what you use. They are yours as soon as you paid.</p>
        <PostForm page={checkout} path="/pay" isUpdated>
          <div className="fields">
            <div>
              <label htmlFor="amount">Amount</label>
              <input
                id="amount"
                name="amount"
                defaultValue={typed.amount}
                required
                inputMode="decimal"
                pattern="[0-9]+([.,][0-9]{1,2})?"
                title="An amount such as 20 or 12.50"
                maxLength={12}
                autoComplete="off"
              />
            </div>
            <div>
              <label htmlFor="currency">Currency</label>
              <select id="currency" name="currency" defaultValue={typed.currency}>
                {currencies.map((code) => (
                  <option key={code} value={code}>
                    {code}
                  </option>
                ))}
              </select>
            </div>
          </div>
          <BillingFields billing={billing} />
          <Due lines={lines} priced={priced} billing={billing} formats={checkout.frame.formats} />
          <PayButtons />
        </PostForm>
      </section>
    </CheckoutPage>
  )
}
