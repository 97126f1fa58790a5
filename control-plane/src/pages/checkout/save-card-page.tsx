import type { ReactElement } from 'react'
import { cardScripts } from '../card-form.tsx'
import type { Notice } from '../notice.tsx'
import { SaveCardSection, type OpenSetup } from '../save-card-section.tsx'
import type { Checkout } from './checkout.ts'
import { CheckoutPage } from './checkout-page.tsx'

type SaveCardProps = {
  readonly checkout: Checkout
  readonly setup: OpenSetup
  /** Path of the page on which the customer chooses a plan. */
  readonly back: string
  readonly notice: Notice | undefined
}

/** The page on which a customer enters the card that a plan needs before it starts. */
export function SaveCardPage({ checkout, setup, back, notice }: SaveCardProps): ReactElement {
  const { t } = checkout.frame
  const scripts = cardScripts(setup.entry, checkout.frame.files)
  return (
    <CheckoutPage
      checkout={checkout}
      title={t('checkout:saveCard')}
      notice={notice}
      scripts={scripts}
    >
      <p>
        <a href={back}>{`← ${t('checkout:back')}`}</a>
      </p>
      <SaveCardSection setup={setup} t={t} uses={t('checkout:usesOfCard')} />
    </CheckoutPage>
  )
}
