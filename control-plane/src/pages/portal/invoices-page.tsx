import type { ReactElement } from 'react'
import type { CreditNote } from '@tollgate/domain/invoices/credit-notes'
import { documentNumberText, type Invoice } from '@tollgate/domain/invoices/invoice'
import { worstDispute } from '@tollgate/domain/invoices/disputes'
import type { InvoicePayment } from '@tollgate/domain/invoices/payments'
import { dueMinor, type InvoiceStatus } from '@tollgate/domain/invoices/transitions'
import type { Notice } from '../notice.tsx'
import type { Portal } from './portal.ts'
import { DownloadLink, invoicePath } from './download-link.tsx'
import { PortalPage } from './portal-page.tsx'
import { expiryText } from '../../invoices/card-expiry.ts'
import { invoiceName } from '../invoice-name.ts'
import { UnpaidInvoices } from './unpaid-invoices.tsx'

type InvoicesPageProps = {
  readonly portal: Portal
  readonly invoices: readonly Invoice[]
  /** By invoice. */
  readonly payments: ReadonlyMap<string, readonly InvoicePayment[]>
  /** By invoice. */
  readonly creditNotes: ReadonlyMap<string, readonly CreditNote[]>
  readonly notice: Notice | undefined
}

const statusWords: Readonly<Record<InvoiceStatus, readonly [label: string, tone: string]>> = {
  draft: ['In preparation', 'quiet'],
  open: ['Open', 'warning'],
  paid: ['Paid', 'good'],
  void: ['Void', 'quiet'],
  uncollectible: ['Unpaid', 'bad'],
  partly_refunded: ['Partly paid back', 'quiet'],
  refunded: ['Paid back', 'quiet'],
}

const disputeWords: Readonly<Record<'open' | 'lost', readonly [label: string, tone: string]>> = {
  open: ['Disputed', 'warning'],
  lost: ['Taken back by the bank', 'bad'],
}

export function InvoicesPage({
  portal,
  invoices,
  payments,
  creditNotes,
  notice,
}: InvoicesPageProps): ReactElement {
  return (
    <PortalPage portal={portal} section="invoices" title="Invoices" notice={notice}>
      <h1>Invoices</h1>
      <UnpaidInvoices portal={portal} invoices={invoices} />
      {invoices.length === 0 ? (
        <p className="card quiet">There is no invoice yet.</p>
      ) : (
        <div className="card scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">Invoice</th>
                <th scope="col">State</th>
                <th scope="col" className="number">
                  Amount
                </th>
              </tr>
            </thead>
            <tbody>
              {invoices.map((invoice) => (
                <InvoiceRow
                  key={invoice.reference}
                  portal={portal}
                  invoice={invoice}
                  payments={payments.get(invoice.reference) ?? []}
                  creditNotes={creditNotes.get(invoice.reference) ?? []}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </PortalPage>
  )
}

type InvoiceRowProps = {
  readonly portal: Portal
  readonly invoice: Invoice
  readonly payments: readonly InvoicePayment[]
  readonly creditNotes: readonly CreditNote[]
}

function InvoiceRow({ portal, invoice, payments, creditNotes }: InvoiceRowProps): ReactElement {
  const { issuedAt, status, currency, totalMinor } = invoice
  const { money, date } = portal.frame.formats
  const dispute = worstDispute(payments)
  const [label, tone] =
    dispute === null || dispute === 'won' ? statusWords[status] : disputeWords[dispute]
  const due = dueMinor(invoice)
  const text = invoiceName(portal, invoice)
  const path = invoicePath(portal, invoice.reference)
  return (
    <tr>
      <td>
        <a className="whole" href={path}>
          {text}
        </a>
        {issuedAt !== null && <div className="quiet whole">{date(issuedAt)}</div>}
        {payments.map(({ reference, paidAt, paidWith }) => (
          <div key={reference} className="quiet">
            <span className="whole">Paid {date(paidAt)}</span>
            {paidWith !== null && (
              <>
                {', '}
                <span className="whole">
                  <span className="capital">{paidWith.brand}</span> ending in {paidWith.last4}
                </span>
                {expiryText(paidWith) !== null && ` (${expiryText(paidWith)})`}
              </>
            )}
          </div>
        ))}
        {creditNotes.map((note) => (
          <CreditNoteLine key={note.reference} portal={portal} note={note} />
        ))}
        <p className="actions">
          <DownloadLink path={path} name={text} />
        </p>
      </td>
      <td>
        <span className={`badge ${tone}`}>{label}</span>
        {status === 'open' && due > 0n && due !== totalMinor && ` ${money(due, currency)} left`}
      </td>
      <td className="number">{money(totalMinor, currency)}</td>
    </tr>
  )
}

type CreditNoteLineProps = { readonly portal: Portal; readonly note: CreditNote }

function CreditNoteLine({ portal, note }: CreditNoteLineProps): ReactElement {
  const { money, date } = portal.frame.formats
  const { reference, invoiceRef, number, createdAt, totalMinor, currency, voidedAt } = note
  const name = documentNumberText('credit_note', number, portal.caller.environment)
  const path = `${invoicePath(portal, invoiceRef)}/credit-notes/${encodeURIComponent(reference)}`
  return (
    <div className="quiet">
      Credit note{' '}
      <a className="whole" href={path}>
        {name}
      </a>
      {`, ${money(totalMinor, currency)}, `}
      <span className="whole">{date(createdAt)}</span>
      {voidedAt !== null && ', void'}
    </div>
  )
}
