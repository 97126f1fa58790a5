import type { ReactElement } from 'react'
import { isWebAddress } from '../page.tsx'
import type { Checkout } from './checkout.ts'
import { CheckoutPage } from './checkout-page.tsx'

type DonePageProps = {
  readonly checkout: Checkout
  /** What the customer has now. */
  readonly text: string
}

/**
 * A link leads on, and no redirect: a policy that lets forms lead to this installation alone would stop it, and the
 * customer should see what came of it.
 */
export function DonePage({ checkout, text }: DonePageProps): ReactElement {
  const { returnUrl } = checkout.session
  const name = checkout.frame.merchant?.name ?? ''
  return (
    <CheckoutPage checkout={checkout} title="Done">
      <div className="card centred">
        <span className="tick" aria-hidden="true">
          ✓
        </span>
        <h1>Done</h1>
        <p>{text}</p>
        {returnUrl !== null && isWebAddress(returnUrl) ? (
          <a className="button main" href={returnUrl} rel="noreferrer">
            {`Back to ${name}`}
          </a>
        ) : (
          <p className="quiet">You can close this window.</p>
        )}
      </div>
    </CheckoutPage>
  )
}
