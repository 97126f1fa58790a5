import type { ReactElement } from 'react'
import type { PaymentIntent } from '@tollgate/domain/payments/payment-intent'
import { stripeScript, type CardEntry } from '../card-entry.ts'
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
  const { checkout, intent, entry, notice } = props
  const { formats, files } = checkout.frame
  const amount = formats.money(intent.originalAmountMinor, intent.currency)
  const scripts = entry.kind === 'stripe' ? [stripeScript, files.payment] : []
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
        {entry.kind === 'stripe' ? (
          <StripeForm {...props} publishableKey={entry.publishableKey} amount={amount} />
        ) : (
          <SimulatorForm {...props} origin={entry.origin} />
        )}
      </section>
    </CheckoutPage>
  )
}

type StripeFormProps = PaymentPageProps & {
  readonly publishableKey: string
  readonly amount: string
}

function StripeForm({ clientSecret, publishableKey, returnUrl, amount }: StripeFormProps) {
  return (
    <form
      data-client-secret={clientSecret}
      data-publishable-key={publishableKey}
      data-return-url={returnUrl}
      data-sends-itself="yes"
    >
      <div id="card" />
      <p id="complaint" className="bad-text" role="alert" />
      <noscript>
        <p>Entering a card takes JavaScript. Please turn it on for this page.</p>
      </noscript>
      <button className="button main broad" type="submit" disabled>
        {`Pay ${amount}`}
      </button>
    </form>
  )
}

type SimulatorFormProps = PaymentPageProps & { readonly origin: string }

function SimulatorForm({ intent, clientSecret, returnUrl, origin }: SimulatorFormProps) {
  return (
    <form method="get" action={`${origin}/_simulator/card/${intent.processorPaymentId ?? ''}`}>
      <input type="hidden" name="client_secret" value={clientSecret} />
      <input type="hidden" name="return_url" value={returnUrl} />
      <p className="quiet">Payments are simulated here: the next page takes test cards only.</p>
      <button className="button main broad" type="submit">
        Enter card
      </button>
    </form>
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
