import type { ReactElement } from 'react'
import type { PaymentIntent } from '@tollgate/domain/payments/payment-intent'
import { priceBeforeTax } from '@tollgate/domain/payments/taxed-terms'
import { BankPending } from '../bank-pending.tsx'
import type { CardEntry } from '../card-entry.ts'
import { CardForm, cardScripts } from '../card-form.tsx'
import type { Notice } from '../notice.tsx'
import { stepPath, type Checkout } from './checkout.ts'
import { CheckoutPage } from './checkout-page.tsx'
import { Sums } from './sums.tsx'

type PaymentPageProps = {
  readonly checkout: Checkout
  readonly intent: PaymentIntent
  /** Secret that lets this browser confirm this payment, and nothing else. */
  readonly clientSecret: string
  readonly entry: Exclude<CardEntry, { kind: 'none' }>
  /** Absolute address to which the browser goes after the attempt. */
  readonly returnUrl: string
  readonly notice: Notice | undefined
}

export function CheckoutPaymentPage(props: PaymentPageProps): ReactElement {
  const { checkout, intent, clientSecret, entry, returnUrl, notice } = props
  const { formats, files, t } = checkout.frame
  const amount = formats.money(intent.originalAmountMinor, intent.currency)
  const scripts = cardScripts(entry, files)
  const name = intent.planSnapshot?.name ?? t('checkout:creditsLine')
  const { tax } = intent
  const { fromBalanceMinor } = intent
  const hasTax = tax !== null && tax.treatment !== 'not_collecting'
  return (
    <CheckoutPage
      checkout={checkout}
      title={t('checkout:payment')}
      notice={notice}
      scripts={scripts}
    >
      <p>
        <a href={choicePath(props)}>{`← ${t('checkout:back')}`}</a>
      </p>
      <div>
        <p className="quiet">{name}</p>
        <h1>{t('checkout:payAmount', { amount })}</h1>
      </div>
      {(hasTax || fromBalanceMinor > 0n) && (
        <section className="card" aria-label={t('checkout:whatIsPaid')}>
          <Sums
            lines={[{ label: name, amountMinor: priceBeforeTax(intent) }]}
            priceMinor={priceBeforeTax(intent)}
            creditMinor={fromBalanceMinor}
            currency={intent.currency}
            tax={tax}
            totalLabel={t('checkout:total')}
            reader={checkout.frame}
          />
        </section>
      )}
      <section className="card" aria-label={t('checkout:card')}>
        <CardForm
          entry={entry}
          act="pay"
          intentId={intent.processorPaymentId ?? ''}
          clientSecret={clientSecret}
          returnUrl={returnUrl}
          label={t('checkout:payAmount', { amount })}
          t={t}
        />
      </section>
    </CheckoutPage>
  )
}

/** Returns the path where the plan, its currency and the billing details are chosen. */
function choicePath({ checkout, intent }: PaymentPageProps): string {
  if (intent.planRef === null) return checkout.path
  return stepPath(checkout, { plan: intent.planRef, currency: intent.currency })
}

export function WaitingPage({ checkout }: { readonly checkout: Checkout }): ReactElement {
  const title = checkout.frame.t('checkout:paymentUnderWay')
  return (
    <CheckoutPage checkout={checkout} title={title}>
      <div className="card centred">
        <h1>{title}</h1>
        <BankPending t={checkout.frame.t} />
      </div>
    </CheckoutPage>
  )
}
