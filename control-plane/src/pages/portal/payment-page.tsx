import { randomUUID } from 'node:crypto'
import type { ReactElement } from 'react'
import type { Card } from '@tollgate/domain/cards/repository'
import { expiryText } from '../../invoices/card-expiry.ts'
import { cardScripts } from '../card-form.tsx'
import type { Notice } from '../notice.tsx'
import { PostForm } from '../post-form.tsx'
import { priceWords } from '../purchase-words.ts'
import { SaveCardSection, type OpenSetup } from '../save-card-section.tsx'
import type { Portal } from './portal.ts'
import { PortalPage } from './portal-page.tsx'
import type { UsesOfCard } from './uses-of-card.ts'

type PaymentPageProps = {
  readonly portal: Portal
  readonly card: Card | undefined
  readonly uses: UsesOfCard
  /** Whether cards can be entered here. */
  readonly isTaken: boolean
  readonly notice: Notice | undefined
}

export function PaymentPage({
  portal,
  card,
  uses,
  isTaken,
  notice,
}: PaymentPageProps): ReactElement {
  return (
    <PortalPage portal={portal} section="payment" title="Payment" notice={notice}>
      <h1>Payment</h1>
      <section className="card">
        <h2>Saved card</h2>
        {card === undefined ? (
          <p className="quiet">No card is saved.</p>
        ) : (
          <SavedCard card={card} />
        )}
        {isTaken && (
          <div className="actions">
            <PostForm page={portal} path="/payment/card">
              <input type="hidden" name="attempt" value={randomUUID()} />
              <button className={card === undefined ? 'button main' : 'button'} type="submit">
                {card === undefined ? 'Add a card' : 'Use another card'}
              </button>
            </PostForm>
            {card !== undefined && (
              <a className="button plain" href={`${portal.path}/payment/remove`}>
                Remove
              </a>
            )}
          </div>
        )}
      </section>
      {card !== undefined && card.reusable && <Uses portal={portal} uses={uses} />}
    </PortalPage>
  )
}

function SavedCard({ card }: { readonly card: Card }): ReactElement {
  const { reusable } = card
  return (
    <>
      <dl className="facts">
        <div>
          <dt>Card</dt>
          <dd>
            <CardName card={card} />
          </dd>
        </div>
        <div>
          <dt>Valid through</dt>
          <dd>{expiryText(card)}</dd>
        </div>
      </dl>
      {!reusable && <p className="quiet">It is not used for payments without you.</p>}
    </>
  )
}

function CardName({ card: { brand, last4 } }: { readonly card: Card }): ReactElement {
  return (
    <>
      <span className="capital">{brand}</span> ending in {last4}
    </>
  )
}

type UsesProps = { readonly portal: Portal; readonly uses: UsesOfCard }

function Uses({ portal, uses: { renewing, hasAutoRecharge } }: UsesProps): ReactElement | null {
  if (renewing.length === 0 && !hasAutoRecharge) return null
  const { formats } = portal.frame
  return (
    <section className="card">
      <h2>What it pays</h2>
      <ul>
        {renewing.map(({ reference, productName, planSnapshot, nextBillingDate }) => (
          <li key={reference}>
            {`${productName}: ${planSnapshot === null ? '' : priceWords(planSnapshot, formats)}`}
            {nextBillingDate !== null && `, next on ${formats.date(nextBillingDate)}`}
          </li>
        ))}
        {hasAutoRecharge && <li>Automatic top-up of your credits</li>}
      </ul>
    </section>
  )
}

type RemoveCardProps = UsesProps & { readonly card: Card }

export function RemoveCardPage({ portal, card, uses }: RemoveCardProps): ReactElement {
  const { formats } = portal.frame
  const { renewing, hasAutoRecharge } = uses
  return (
    <PortalPage portal={portal} section="payment" title="Remove card">
      <div className="card narrow">
        <h1>Remove your card?</h1>
        <p>
          <CardName card={card} /> is taken away from the payment processor as well.
        </p>
        {(renewing.length > 0 || hasAutoRecharge) && (
          <ul>
            {renewing.map(({ reference, productName, nextBillingDate }) => (
              <li key={reference}>
                {nextBillingDate === null
                  ? `${productName} cannot renew without a card.`
                  : `${productName} cannot renew on ${formats.date(nextBillingDate)}, unless you add another card before.`}
              </li>
            ))}
            {hasAutoRecharge && <li>Automatic top-up waits until there is another card.</li>}
          </ul>
        )}
        <PostForm page={portal} path="/payment/remove">
          <div className="actions">
            <button className="button danger" type="submit">
              Remove card
            </button>
            <a className="button" href={`${portal.path}/payment`}>
              Keep it
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
  return (
    <PortalPage
      portal={portal}
      section="payment"
      title="Save a card"
      notice={notice}
      scripts={cardScripts(setup.entry, portal.frame.files)}
    >
      <p>
        <a href={`${portal.path}/payment`}>← Payment</a>
      </p>
      <SaveCardSection
        setup={setup}
        uses="Plans that renew and automatic top-up use this card from now on."
        isNarrow
      />
    </PortalPage>
  )
}
