import type { ReactElement } from 'react'
import { stripeScript, type CardEntry } from './card-entry.ts'
import type { Reader } from './reader.ts'
import type { StaticFiles } from './static-files.ts'

type CardFormProps = {
  readonly entry: Exclude<CardEntry, { kind: 'none' }>
  /** Whether the card pays, or is only kept. */
  readonly act: 'pay' | 'save'
  /** The processor's reference of what the card is for. */
  readonly intentId: string
  /** Lets this browser go on with that alone. */
  readonly clientSecret: string
  /** Absolute: where the browser goes once it was tried. */
  readonly returnUrl: string
  /** Of the button. */
  readonly label: string
  readonly t: Reader['t']
}

/** What a page with the form loads beside its own. */
export function cardScripts(
  entry: Exclude<CardEntry, { kind: 'none' }>,
  files: StaticFiles,
): readonly string[] {
  return entry.kind === 'stripe' ? [stripeScript, files.payment] : []
}

/** Where a card is entered, without any of it coming to us. */
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
