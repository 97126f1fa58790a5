import type { ReactElement } from 'react'
import type { Card } from '@tollgate/domain/cards/repository'
import type { Portal } from './portal.ts'
import { PortalPage } from './portal-page.tsx'

type PaymentPageProps = { readonly portal: Portal; readonly card: Card | undefined }

export function PaymentPage({ portal, card }: PaymentPageProps): ReactElement {
  return (
    <PortalPage portal={portal} section="payment" title="Payment">
      <h1>Payment</h1>
      <section className="card">
        <h2>Saved card</h2>
        {card === undefined ? (
          <p className="quiet">No card is saved.</p>
        ) : (
          <SavedCard card={card} />
        )}
      </section>
    </PortalPage>
  )
}

function SavedCard({ card }: { readonly card: Card }): ReactElement {
  const { brand, last4, expMonth, expYear, reusable } = card
  const expiry = `${String(expMonth).padStart(2, '0')}/${expYear}`
  return (
    <>
      <dl className="facts">
        <div>
          <dt>Card</dt>
          <dd>
            <span className="capital">{brand}</span> ending in {last4}
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
