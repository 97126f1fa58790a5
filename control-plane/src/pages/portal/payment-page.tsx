import { randomUUID } from 'node:crypto'
import type { ReactElement } from 'react'
import type { Card } from '@tollgate/domain/cards/repository'
import type { CardEntry } from '../card-entry.ts'
import { CardForm, cardScripts } from '../card-form.tsx'
import type { Notice } from '../notice.tsx'
import { PostForm } from '../post-form.tsx'
import { priceWords } from '../purchase-words.ts'
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
  const { expMonth, expYear, reusable } = card
  const expiry = `${String(expMonth).padStart(2, '0')}/${expYear}`
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
          <dd>{expiry}</dd>
        </div>
      </dl>
      {!reusable && (
        <p className="quiet">It was used once, and is not kept for payments without you.</p>
      )}
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
  readonly entry: Exclude<CardEntry, { kind: 'none' }>
  readonly setupIntentId: string
  readonly clientSecret: string
  /** Absolute. */
  readonly returnUrl: string
  /** Whether an invoice waits for another card. */
  readonly hasUnpaid: boolean
  readonly notice: Notice | undefined
}

export function EnterCardPage(props: EnterCardProps): ReactElement {
  const { portal, entry, setupIntentId, clientSecret, returnUrl, hasUnpaid, notice } = props
  return (
    <PortalPage
      portal={portal}
      section="payment"
      title="Save a card"
      notice={notice}
      scripts={cardScripts(entry, portal.frame.files)}
    >
      <p>
        <a href={`${portal.path}/payment`}>← Payment</a>
      </p>
      <section className="card narrow" aria-label="Card">
        <h1>Save a card</h1>
        <p className="quiet">
          {hasUnpaid
            ? 'What could not be charged is charged to this card within a few minutes.'
            : 'Nothing is charged now.'}{' '}
          Plans that renew and automatic top-up use this card from now on.
        </p>
        <CardForm
          entry={entry}
          act="save"
          intentId={setupIntentId}
          clientSecret={clientSecret}
          returnUrl={returnUrl}
          label="Save card"
        />
      </section>
    </PortalPage>
  )
}
