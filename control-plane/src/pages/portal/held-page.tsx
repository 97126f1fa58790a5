import type { ReactElement } from 'react'
import type { Invoice } from '@tollgate/domain/invoices/invoice'
import { dueMinor } from '@tollgate/domain/invoices/transitions'
import { heldText } from '../held-text.ts'
import { invoiceName } from '../invoice-name.ts'
import { invoicePath } from './download-link.tsx'
import type { Portal } from './portal.ts'
import { PortalPage } from './portal-page.tsx'
import { UnpaidInvoices } from './unpaid-invoices.tsx'

type HeldPageProps = {
  readonly portal: Portal
  readonly invoice: Invoice
  /** The customer's open invoices. Those whose charge failed can be paid. */
  readonly open: readonly Invoice[]
}

/** The page of an invoice that takes no payment. It says why, and leads to the invoices that can be paid. */
export function HeldPage({ portal, invoice, open }: HeldPageProps): ReactElement {
  const { t, formats } = portal.frame
  return (
    <PortalPage portal={portal} section="invoices" title={t('portal:heldTitle')} notice={undefined}>
      <p>
        <a href={`${portal.path}/invoices`}>{t('portal:backToInvoices')}</a>
      </p>
      <section className="card narrow" aria-label={t('portal:navPayment')}>
        <p className="quiet">
          <a href={invoicePath(portal, invoice.reference)}>{invoiceName(portal, invoice)}</a>
        </p>
        <h1>{t('portal:heldTitle')}</h1>
        <p>{formats.money(dueMinor(invoice), invoice.currency)}</p>
        <p>{heldText(invoice, portal.frame)}</p>
      </section>
      <UnpaidInvoices portal={portal} invoices={open} />
    </PortalPage>
  )
}
