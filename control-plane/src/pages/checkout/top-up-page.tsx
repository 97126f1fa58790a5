import type { ReactElement } from 'react'
import { majorText } from '@tollgate/domain/money/currencies'
import type { Notice } from '../notice.tsx'
import { PostForm } from '../post-form.tsx'
import { BillingFields } from './billing-fields.tsx'
import { stepPath, type Checkout } from './checkout.ts'
import { CheckoutPage } from './checkout-page.tsx'
import { AmountDue, PayButtons } from './amount-due.tsx'
import type { Billing, PricedChoice } from './read-billing.ts'
import { minimumTopUpMinor, suggestedTopUpsMinor } from './top-up-amounts.ts'

type TopUpFields = { readonly amount: string; readonly currency: string }

type TopUpPageProps = {
  readonly checkout: Checkout
  /** Currencies in which credits can be bought. The provider's own currency comes first. */
  readonly currencies: readonly string[]
  readonly typed: TopUpFields
  readonly billing: Billing
  /** Undefined until the customer typed an amount that can be paid. */
  readonly priced: Extract<PricedChoice, { kind: 'priced' }> | undefined
  readonly notice: Notice | undefined
}

export function TopUpPage(props: TopUpPageProps): ReactElement {
  const { checkout, billing, priced, notice } = props
  const { frame } = checkout
  const { t } = frame
  const title = t('checkout:buyCredits')
  const lines =
    priced === undefined
      ? []
      : [{ label: t('checkout:creditsLine'), amountMinor: priced.priceMinor }]
  return (
    <CheckoutPage checkout={checkout} title={title} notice={notice}>
      <h1>{title}</h1>
      <section className="card" aria-label={t('checkout:howMuch')}>
        <p className="quiet">{t('checkout:creditsExplained')}</p>
        <PostForm page={checkout} path="/pay" isUpdated>
          <AmountFields {...props} />
          <BillingFields billing={billing} reader={frame} />
          <AmountDue lines={lines} priced={priced} billing={billing} reader={frame}>
            {priced !== undefined && priced.credits !== null && (
              <p>{t('checkout:youReceive', { count: Number(priced.credits) })}</p>
            )}
          </AmountDue>
          <PayButtons reader={frame} />
        </PostForm>
      </section>
    </CheckoutPage>
  )
}

function AmountFields({ checkout, currencies, typed }: TopUpPageProps): ReactElement {
  const { t, formats } = checkout.frame
  const { currency } = typed
  const minimum = formats.money(minimumTopUpMinor(currency), currency)
  return (
    <>
      <nav className="presets" data-part="presets" aria-label={t('checkout:suggestions')}>
        {suggestedTopUpsMinor(currency).map((amountMinor) => {
          const amount = majorText(amountMinor, currency).replace(/\.00$/, '')
          return (
            <a
              key={amount}
              className="button"
              href={stepPath(checkout, { amount, currency })}
              data-fills="amount"
              data-value={amount}
              aria-current={amount === typed.amount ? 'true' : undefined}
            >
              {formats.money(amountMinor, currency)}
            </a>
          )
        })}
      </nav>
      <div className="fields top">
        <div>
          <label htmlFor="amount">{t('checkout:amount')}</label>
          <input
            id="amount"
            name="amount"
            defaultValue={typed.amount}
            required
            inputMode="decimal"
            pattern="[0-9]+([.,][0-9]{1,2})?"
            title={t('checkout:amountExample')}
            maxLength={12}
            autoComplete="off"
            aria-describedby="least"
          />
          <p id="least" className="quiet small" data-part="least">
            {t('checkout:leastAmount', { amount: minimum })}
          </p>
        </div>
        <div>
          <label htmlFor="currency">{t('checkout:currency')}</label>
          <select id="currency" name="currency" defaultValue={currency}>
            {currencies.map((code) => (
              <option key={code} value={code}>
                {code}
              </option>
            ))}
          </select>
        </div>
      </div>
    </>
  )
}
