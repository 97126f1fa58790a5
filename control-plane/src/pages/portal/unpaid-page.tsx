import { randomUUID } from 'node:crypto'
import type { ReactElement } from 'react'
import type { Card } from '@tollgate/domain/cards/repository'
import type { PresentPayment } from '@tollgate/domain/charging/pay-present'
import type { Invoice } from '@tollgate/domain/invoices/invoice'
import { dueMinor } from '@tollgate/domain/invoices/transitions'
import { BankWaitedFor } from '../bank-waited-for.tsx'
import type { Notice } from '../notice.tsx'
import { PostForm } from '../post-form.tsx'
import { invoiceName } from '../invoice-name.ts'
import type { Portal } from './portal.ts'
import { invoicePath } from './download-link.tsx'
import { PortalPage } from './portal-page.tsx'

type UnpaidPageProps = {
  readonly portal: Portal
  readonly invoice: Invoice
  /** Where charging it stands. */
  readonly payment: Extract<PresentPayment, { kind: 'asked' | 'processing' | 'unpaid' }>
  /** The saved one, where it may be charged. */
  readonly card: Card | undefined
  readonly notice: Notice | undefined
}

/** An invoice that the saved card could not be charged for, in front of its customer. */
export function UnpaidPage(props: UnpaidPageProps): ReactElement {
  const { portal, invoice, notice } = props
  const amount = portal.frame.formats.money(dueMinor(invoice), invoice.currency)
  return (
    <PortalPage portal={portal} section="invoices" title="Pay an invoice" notice={notice}>
      <p>
        <a href={`${portal.path}/invoices`}>← Invoices</a>
      </p>
      <section className="card narrow" aria-label="Payment">
        <div>
          <p className="quiet">
            <a href={invoicePath(portal, invoice.reference)}>{invoiceName(portal, invoice)}</a>
          </p>
          <h1>{`Pay ${amount}`}</h1>
        </div>
        <Way {...props} amount={amount} />
      </section>
    </PortalPage>
  )
}

function Way(props: UnpaidPageProps & { readonly amount: string }): ReactElement {
  const { portal, invoice, payment, card, amount } = props
  switch (payment.kind) {
    case 'processing':
      return <BankWaitedFor />
    case 'asked':
      return (
        <>
          <p>Your bank wants to make sure that it is you who pays.</p>
          <a className="button main broad" href={payment.url} rel="noreferrer">
            Continue to your bank
          </a>
          <OtherCard portal={portal} />
        </>
      )
    case 'unpaid':
      if (card === undefined) {
        return (
          <>
            <p>There is no saved card. Add one, and it is charged within a few minutes.</p>
            <OtherCard portal={portal} isFirst />
          </>
        )
      }
      return (
        <>
          <p>
            The saved card could not be charged. Your bank may only want to hear from you; otherwise
            another card helps, which is charged within a few minutes.
          </p>
          <PostForm page={portal} path={`/invoices/${encodeURIComponent(invoice.reference)}/pay`}>
            <button className="button main broad" type="submit">
              {`Pay ${amount} with `}
              <span className="capital">{card.brand}</span> {card.last4}
            </button>
          </PostForm>
          <OtherCard portal={portal} />
        </>
      )
  }
}

function OtherCard(props: { readonly portal: Portal; readonly isFirst?: boolean }): ReactElement {
  const { portal, isFirst = false } = props
  return (
    <PostForm page={portal} path="/payment/card">
      <input type="hidden" name="attempt" value={randomUUID()} />
      <button className={isFirst ? 'button main broad' : 'button broad'} type="submit">
        {isFirst ? 'Add a card' : 'Use another card'}
      </button>
    </PostForm>
  )
}
