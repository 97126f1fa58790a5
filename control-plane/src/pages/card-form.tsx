import type { ReactElement } from 'react'
import { stripeScript, type CardEntry } from './card-entry.ts'
import type { Reader } from './reader.ts'
import type { StaticFiles } from './static-files.ts'

type CardFormProps = {
  readonly entry: Exclude<CardEntry, { kind: 'none' }>
  /** Whether the card is charged, or only saved. */
  readonly act: 'pay' | 'save'
  /** Reference of the payment or setup at the processor. */
  readonly intentId: string
  /** Secret that lets this browser confirm this payment or setup, and nothing else. */
  readonly clientSecret: string
  /** Absolute address to which the browser goes after the attempt. */
  readonly returnUrl: string
  /** Label of the button. */
  readonly label: string
  readonly t: Reader['t']
}

/** Returns the additional scripts of a page with the form. */
export function cardScripts(
  entry: Exclude<CardEntry, { kind: 'none' }>,
  files: StaticFiles,
): readonly string[] {
  return entry.kind === 'stripe' ? [stripeScript, files.payment] : []
}

/** Shows the form for a card. Card data never reaches Tollgate. */
export function CardForm(props: CardFormProps): ReactElement {
  const { entry } = props
  return entry.kind === 'stripe' ? (
    <StripeForm {...props} publishableKey={entry.publishableKey} />
  ) : (
    <SimulatorForm {...props} origin={entry.origin} />
  )
}

type StripeFormProps = CardFormProps & { readonly publishableKey: string }

function StripeForm({ act, clientSecret, publishableKey, returnUrl, label, t }: StripeFormProps) {
  return (
    <form
      data-act={act}
      data-client-secret={clientSecret}
      data-publishable-key={publishableKey}
      data-return-url={returnUrl}
      data-sends-itself="yes"
      data-not-loaded={t('shared:cardNotLoaded')}
    >
      <div id="card" />
      <p id="complaint" className="bad-text" role="alert" />
      <noscript>
        <p>{t('shared:cardNeedsScript')}</p>
      </noscript>
      <button className="button main broad" type="submit" disabled>
        {label}
      </button>
    </form>
  )
}

type SimulatorFormProps = CardFormProps & { readonly origin: string }

function SimulatorForm({ act, intentId, clientSecret, returnUrl, origin, t }: SimulatorFormProps) {
  return (
    <form method="get" action={`${origin}/_simulator/card/${intentId}`}>
      <input type="hidden" name="client_secret" value={clientSecret} />
      <input type="hidden" name="return_url" value={returnUrl} />
      <p className="quiet">
        {act === 'pay' ? t('shared:paymentsSimulated') : t('shared:cardsSimulated')}
      </p>
      <button className="button main broad" type="submit">
        {t('shared:enterCard')}
      </button>
    </form>
  )
}
