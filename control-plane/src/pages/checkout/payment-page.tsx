import type { ReactElement } from 'react'
import type { PaymentIntent } from '@tollgate/domain/payments/payment-intent'
import type { CardEntry } from '../card-entry.ts'
import { CardForm, cardScripts } from '../card-form.tsx'
import type { Notice } from '../notice.tsx'
import type { Checkout } from './checkout.ts'
import { CheckoutPage } from './checkout-page.tsx'

type PaymentPageProps = {
  readonly checkout: Checkout
  readonly intent: PaymentIntent
  /** Lets this browser pay this one payment. */
  readonly clientSecret: string
  readonly entry: Exclude<CardEntry, { kind: 'none' }>
  /** Absolute: where the browser goes once it was tried. */
  readonly returnUrl: string
  readonly notice: Notice | undefined
}

export function CheckoutPaymentPage(props: PaymentPageProps): ReactElement {
  const { checkout, intent, clientSecret, entry, returnUrl, notice } = props
  const { formats, files } = checkout.frame
  const amount = formats.money(intent.originalAmountMinor, intent.currency)
  const scripts = cardScripts(entry, files)
  return (
    <CheckoutPage checkout={checkout} title="Payment" notice={notice} scripts={scripts}>
      <p>
        <a href={checkout.path}>← Back</a>
      </p>
      <div>
        <p className="quiet">{intent.planSnapshot?.name ?? 'Credits'}</p>
        <h1>{`Pay ${amount}`}</h1>
      </div>
      <section className="card" aria-label="Card">
        <CardForm
          entry={entry}
          act="pay"
          intentId={intent.processorPaymentId ?? ''}
          clientSecret={clientSecret}
          returnUrl={returnUrl}
          label={`Pay ${amount}`}
        />
      </section>
    </CheckoutPage>
  )
}

/** The bank takes its time; the page looks again by itself, without a script. */
export function WaitingPage({ checkout }: { readonly checkout: Checkout }): ReactElement {
  return (
    <CheckoutPage checkout={checkout} title="Payment under way" refreshSeconds={5}>
      <div className="card centred">
        <h1>Your payment is under way</h1>
        <p>Your bank has not answered yet. You need not wait here: it goes on by itself.</p>
        <p>
          <a href="">Look again</a>
        </p>
      </div>
    </CheckoutPage>
  )
}
