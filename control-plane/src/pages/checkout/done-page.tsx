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
  return (
    <CheckoutPage checkout={checkout} title="Done">
      <div className="card centred">
        <span className="tick" aria-hidden="true">
          ✓
        </span>
        <h1>Done</h1>
        <p>{text}</p>
        <WayBack checkout={checkout} />
      </div>
    </CheckoutPage>
  )
}

function WayBack({ checkout }: Pick<DonePageProps, 'checkout'>): ReactElement {
  const { returnUrl } = checkout.session
  const { merchant } = checkout.frame
  if (returnUrl === null || !isWebAddress(returnUrl)) {
    return <p className="quiet">You can close this window.</p>
  }
  if (merchant !== undefined && !merchant.mayLeadTo(returnUrl)) {
    const text = `The way back leads to ${new URL(returnUrl).host}, which ${merchant.name} does not allow any more. You can close this window.`
    return <p className="quiet">{text}</p>
  }
  return (
    <a className="button main" href={returnUrl} rel="noreferrer">
      {`Back to ${merchant?.name ?? ''}`}
    </a>
  )
}
