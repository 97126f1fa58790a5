import type { ReactElement } from 'react'
import type { Notice } from '../notice.tsx'
import { PostForm } from '../post-form.tsx'
import type { Checkout } from './checkout.ts'
import { CheckoutPage } from './checkout-page.tsx'

type TopUpFields = { readonly amount: string; readonly currency: string }

type TopUpPageProps = {
  readonly checkout: Checkout
  /** In which credits can be bought; the provider's own first. */
  readonly currencies: readonly string[]
  readonly typed: TopUpFields
  readonly notice: Notice | undefined
}

export function TopUpPage({ checkout, currencies, typed, notice }: TopUpPageProps): ReactElement {
  return (
    <CheckoutPage checkout={checkout} title="Buy credits" notice={notice}>
      <h1>Buy credits</h1>
      <section className="card" aria-label="How much">
        <p className="quiet">Credits pay for what you use. They are yours as soon as you paid.</p>
        <PostForm page={checkout} path="/pay">
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
          <button className="button main broad" type="submit">
            Continue to payment
          </button>
        </PostForm>
      </section>
    </CheckoutPage>
  )
}
