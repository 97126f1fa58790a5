import type { ReactElement } from 'react'
import type { CardEntry } from './card-entry.ts'
import { CardForm } from './card-form.tsx'
import type { Reader } from './reader.ts'

/** A setup for which the customer enters a card now. */
export type OpenSetup = {
  readonly entry: Exclude<CardEntry, { kind: 'none' }>
  readonly setupIntentId: string
  readonly clientSecret: string
  /** Absolute address to which the browser goes after the attempt. */
  readonly returnUrl: string
  /** Whether an unpaid invoice will be charged to the new card. */
  readonly hasUnpaid: boolean
}

type SaveCardSectionProps = {
  readonly setup: OpenSetup
  /** Text about the payments for which the saved card will be used. */
  readonly uses: string
  readonly isNarrow?: boolean
  readonly t: Reader['t']
}

/** Shows the form for a card that is saved without a payment. */
export function SaveCardSection({ setup, uses, isNarrow, t }: SaveCardSectionProps): ReactElement {
  const { entry, setupIntentId, clientSecret, returnUrl, hasUnpaid } = setup
  const charged = hasUnpaid ? t('shared:cardPaysUnpaid') : t('shared:nothingChargedNow')
  return (
    <section className={isNarrow === true ? 'card narrow' : 'card'} aria-label={t('shared:card')}>
      <h1>{t('shared:saveACard')}</h1>
      <p className="quiet">{`${charged} ${uses}`}</p>
      <CardForm
        entry={entry}
        act="save"
        intentId={setupIntentId}
        clientSecret={clientSecret}
        returnUrl={returnUrl}
        label={t('shared:saveCard')}
        t={t}
      />
    </section>
  )
}
