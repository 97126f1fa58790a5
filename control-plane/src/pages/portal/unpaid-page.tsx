import { randomUUID } from 'node:crypto'
import type { ReactElement } from 'react'
import type { Card } from '@tollgate/domain/cards/repository'
import type { OnSessionPayment } from '@tollgate/domain/charging/pay-on-session'
import type { Invoice } from '@tollgate/domain/invoices/invoice'
import { dueMinor } from '@tollgate/domain/invoices/transitions'
import { BankPending } from '../bank-pending.tsx'
import { cardName } from '../card-name.ts'
import type { Notice } from '../notice.tsx'
import { PostForm } from '../post-form.tsx'
import { invoiceName } from '../invoice-name.ts'
import type { Portal } from './portal.ts'
import { invoicePath } from './download-link.tsx'
import { PortalPage } from './portal-page.tsx'

type UnpaidPageProps = {
  readonly portal: Portal
  readonly invoice: Invoice
  /** State of the payment. */
  readonly payment: Extract<OnSessionPayment, { kind: 'authenticate' | 'processing' | 'unpaid' }>
  /** The saved card, if it may be charged. */
  readonly card: Card | undefined
  readonly notice: Notice | undefined
}

/** The page on which a customer pays an invoice that could not be charged to the saved card. */
export function UnpaidPage(props: UnpaidPageProps): ReactElement {
  const { portal, invoice, notice } = props
  const { t, formats } = portal.frame
  const amount = formats.money(dueMinor(invoice), invoice.currency)
  return (
    <PortalPage portal={portal} section="invoices" title={t('portal:payInvoice')} notice={notice}>
      <p>
        <a href={`${portal.path}/invoices`}>{t('portal:backToInvoices')}</a>
      </p>
      <section className="card narrow" aria-label={t('portal:navPayment')}>
        <div>
          <p className="quiet">
            <a href={invoicePath(portal, invoice.reference)}>{invoiceName(portal, invoice)}</a>
          </p>
          <h1>{t('portal:payAmount', { amount })}</h1>
        </div>
        <PaymentOptions {...props} amount={amount} />
      </section>
    </PortalPage>
  )
}

function PaymentOptions(props: UnpaidPageProps & { readonly amount: string }): ReactElement {
  const { portal, invoice, payment, card, amount } = props
  const { t } = portal.frame
  switch (payment.kind) {
    case 'processing':
      return <BankPending t={t} />
    case 'authenticate':
      return (
        <>
          <p>{t('portal:bankAsks')}</p>
          <a className="button main broad" href={payment.url} rel="noreferrer">
            {t('portal:continueToBank')}
          </a>
          <OtherCardForm portal={portal} />
        </>
      )
    case 'unpaid':
      if (card === undefined) {
        return (
          <>
            <p>{t('portal:noCardToCharge')}</p>
            <OtherCardForm portal={portal} isFirst />
          </>
        )
      }
      return (
        <>
          <p>{t('portal:cardCouldNotPay')}</p>
          <PostForm page={portal} path={`/invoices/${encodeURIComponent(invoice.reference)}/pay`}>
            <button className="button main broad" type="submit">
              {t('portal:payAmountWith', { amount, card: cardName(card, { t }) })}
            </button>
          </PostForm>
          <OtherCardForm portal={portal} />
        </>
      )
  }
}

function OtherCardForm(props: {
  readonly portal: Portal
  readonly isFirst?: boolean
}): ReactElement {
  const { portal, isFirst = false } = props
  const { t } = portal.frame
  return (
    <PostForm page={portal} path="/payment/card">
      <input type="hidden" name="attempt" value={randomUUID()} />
      <button className={isFirst ? 'button main broad' : 'button broad'} type="submit">
        {isFirst ? t('portal:addCard') : t('portal:useAnotherCard')}
      </button>
    </PostForm>
  )
}
