import type { ReactElement } from 'react'
import type { Checkout } from './checkout.ts'
import { CheckoutPage } from './checkout-page.tsx'

type NotSoldProps = { readonly checkout: Checkout; readonly text: string }

/** The page for a plan that cannot be started now. It shows why, and links to the other plans. */
export function NotSoldPage({ checkout, text }: NotSoldProps): ReactElement {
  const { t } = checkout.frame
  const title = t('checkout:notPossibleNow')
  return (
    <CheckoutPage checkout={checkout} title={title}>
      <div className="card centred">
        <h1>{title}</h1>
        <p>{text}</p>
        {checkout.session.planRef === null && (
          <a className="button main" href={checkout.path}>
            {t('checkout:allPlans')}
          </a>
        )}
      </div>
    </CheckoutPage>
  )
}
