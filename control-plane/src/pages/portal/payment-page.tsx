import { randomUUID } from 'node:crypto'
import type { ReactElement } from 'react'
import type { Card } from '@tollgate/domain/cards/repository'
import { planAt } from '@tollgate/domain/purchases/offered-plan'
import { expiryText } from '../../invoices/document-formats.ts'
import { cardScripts } from '../card-form.tsx'
import { cardName } from '../card-name.ts'
import type { Notice } from '../notice.tsx'
import { PostForm } from '../post-form.tsx'
import { priceText } from '../purchase-texts.ts'
import { SaveCardSection, type OpenSetup } from '../save-card-section.tsx'
import type { Texts } from '../texts/texts.ts'
import type { BillingDetails } from './billing-details.ts'
import { BillingSection } from './billing-page.tsx'
import type { Portal } from './portal.ts'
import { PortalPage } from './portal-page.tsx'
import type { CardUses } from './card-uses.ts'

type PaymentPageProps = {
  readonly portal: Portal
  readonly card: Card | undefined
  readonly uses: CardUses
  /** Whether the customer can enter a card here. */
  readonly canEnterCard: boolean
  readonly details: BillingDetails
  readonly notice: Notice | undefined
}

export function PaymentPage({
  portal,
  card,
  uses,
  canEnterCard,
  details,
  notice,
}: PaymentPageProps): ReactElement {
  const { t } = portal.frame
  const title = t('portal:navPayment')
  return (
    <PortalPage portal={portal} section="payment" title={title} notice={notice}>
      <h1>{title}</h1>
      <section className="card">
        <h2>{t('portal:savedCard')}</h2>
        {card === undefined ? (
          <p className="quiet">{t('portal:noCard')}</p>
        ) : (
          <SavedCard card={card} t={t} />
        )}
        {canEnterCard && (
          <div className="actions">
            <PostForm page={portal} path="/payment/card">
              <input type="hidden" name="attempt" value={randomUUID()} />
              <button className={card === undefined ? 'button main' : 'button'} type="submit">
                {card === undefined ? t('portal:addCard') : t('portal:useAnotherCard')}
              </button>
            </PostForm>
            {card !== undefined && (
              <a className="button plain" href={`${portal.path}/payment/remove`}>
                {t('portal:remove')}
              </a>
            )}
          </div>
        )}
      </section>
      {card !== undefined && card.reusable && <Uses portal={portal} uses={uses} />}
      <BillingSection portal={portal} details={details} />
    </PortalPage>
  )
}

function SavedCard({ card, t }: { readonly card: Card; readonly t: Texts }): ReactElement {
  const { reusable } = card
  return (
    <>
      <dl className="facts">
        <div>
          <dt>{t('shared:card')}</dt>
          <dd>{cardName(card, { t })}</dd>
        </div>
        <div>
          <dt>{t('portal:validThrough')}</dt>
          <dd>{expiryText(card)}</dd>
        </div>
      </dl>
      {!reusable && <p className="quiet">{t('portal:cardOnlyWithYou')}</p>}
    </>
  )
}

type UsesProps = { readonly portal: Portal; readonly uses: CardUses }

function Uses({ portal, uses: { renewing, hasAutoRecharge } }: UsesProps): ReactElement | null {
  if (renewing.length === 0 && !hasAutoRecharge) return null
  const { t, formats } = portal.frame
  return (
    <section className="card">
      <h2>{t('portal:whatItPays')}</h2>
      <ul>
        {renewing.map((purchase) => {
          const { reference, productName: product, planSnapshot, nextBillingDate } = purchase
          const price =
            planSnapshot === null
              ? ''
              : priceText(
                  planAt(purchase, planSnapshot, nextBillingDate ?? purchase.startDate),
                  portal.frame,
                )
          return (
            <li key={reference}>
              {nextBillingDate === null
                ? t('portal:cardPays', { product, price })
                : t('portal:cardPaysNext', { product, price, date: formats.date(nextBillingDate) })}
            </li>
          )
        })}
        {hasAutoRecharge && <li>{t('portal:cardPaysTopUp')}</li>}
      </ul>
    </section>
  )
}

type RemoveCardProps = UsesProps & { readonly card: Card }

export function RemoveCardPage({ portal, card, uses }: RemoveCardProps): ReactElement {
  const { t, formats } = portal.frame
  const { renewing, hasAutoRecharge } = uses
  return (
    <PortalPage portal={portal} section="payment" title={t('portal:removeCard')}>
      <div className="card narrow">
        <h1>{t('portal:removeQuestion')}</h1>
        <p>{t('portal:removeText', { card: cardName(card, { t }) })}</p>
        {(renewing.length > 0 || hasAutoRecharge) && (
          <ul>
            {renewing.map(({ reference, productName: product, nextBillingDate }) => (
              <li key={reference}>
                {nextBillingDate === null
                  ? t('portal:cannotRenew', { product })
                  : t('portal:cannotRenewOn', { product, date: formats.date(nextBillingDate) })}
              </li>
            ))}
            {hasAutoRecharge && <li>{t('portal:topUpWaits')}</li>}
          </ul>
        )}
        <PostForm page={portal} path="/payment/remove">
          <div className="actions">
            <button className="button danger" type="submit">
              {t('portal:removeCard')}
            </button>
            <a className="button" href={`${portal.path}/payment`}>
              {t('portal:keepIt')}
            </a>
          </div>
        </PostForm>
      </div>
    </PortalPage>
  )
}

type EnterCardProps = {
  readonly portal: Portal
  readonly setup: OpenSetup
  readonly notice: Notice | undefined
}

export function EnterCardPage({ portal, setup, notice }: EnterCardProps): ReactElement {
  const { t } = portal.frame
  return (
    <PortalPage
      portal={portal}
      section="payment"
      title={t('shared:saveACard')}
      notice={notice}
      scripts={cardScripts(setup.entry, portal.frame.files)}
    >
      <p>
        <a href={`${portal.path}/payment`}>{t('portal:backToPayment')}</a>
      </p>
      <SaveCardSection setup={setup} uses={t('portal:usesOfCard')} t={t} isNarrow />
    </PortalPage>
  )
}
