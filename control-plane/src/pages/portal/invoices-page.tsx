import type { ReactElement } from 'react'
import type { Balance } from '@tollgate/domain/invoices/carried-amounts'
import type { CreditNote } from '@tollgate/domain/invoices/credit-notes'
import { documentNumberText, type Invoice } from '@tollgate/domain/invoices/invoice'
import { worstDispute } from '@tollgate/domain/invoices/disputes'
import type { InvoicePayment } from '@tollgate/domain/payments/payments'
import { dueMinor, type InvoiceStatus } from '@tollgate/domain/invoices/transitions'
import type { Notice } from '../notice.tsx'
import type { Portal } from './portal.ts'
import { DownloadLink, invoicePath } from './download-link.tsx'
import { PortalPage } from './portal-page.tsx'
import { expiryText } from '../../invoices/document-formats.ts'
import { cardName } from '../card-name.ts'
import { invoiceName } from '../invoice-name.ts'
import type { PlainKey } from '../texts/texts.ts'
import { UnpaidInvoices } from './unpaid-invoices.tsx'

type InvoicesPageProps = {
  readonly portal: Portal
  readonly invoices: readonly Invoice[]
  /** Payments by invoice reference. */
  readonly payments: ReadonlyMap<string, readonly InvoicePayment[]>
  /** Credit notes by invoice reference. */
  readonly creditNotes: ReadonlyMap<string, readonly CreditNote[]>
  readonly balances: readonly Balance[]
  readonly notice: Notice | undefined
}

const statusTexts: Readonly<Record<InvoiceStatus, readonly [label: PlainKey, tone: string]>> = {
  draft: ['portal:invoiceDraft', 'quiet'],
  open: ['portal:invoiceOpen', 'warning'],
  paid: ['portal:invoicePaid', 'good'],
  void: ['portal:invoiceVoid', 'quiet'],
  uncollectible: ['portal:invoiceUnpaid', 'bad'],
  partly_refunded: ['portal:invoicePartlyRefunded', 'quiet'],
  refunded: ['portal:invoiceRefunded', 'quiet'],
}

const disputeTexts: Readonly<Record<'open' | 'lost', readonly [label: PlainKey, tone: string]>> = {
  open: ['portal:disputeOpen', 'warning'],
  lost: ['portal:disputeLost', 'bad'],
}

export function InvoicesPage({
  portal,
  invoices,
  payments,
  creditNotes,
  balances,
  notice,
}: InvoicesPageProps): ReactElement {
  const { t } = portal.frame
  const title = t('portal:navInvoices')
  return (
    <PortalPage portal={portal} section="invoices" title={title} notice={notice}>
      <h1>{title}</h1>
      <UnpaidInvoices portal={portal} invoices={invoices} />
      <Balances portal={portal} balances={balances} />
      {invoices.length === 0 ? (
        <p className="card quiet">{t('portal:noInvoices')}</p>
      ) : (
        <div className="card scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">{t('portal:invoice')}</th>
                <th scope="col">{t('portal:state')}</th>
                <th scope="col" className="number">
                  {t('portal:amount')}
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

function statusOf({ status, isHeld }: Invoice): readonly [label: PlainKey, tone: string] {
  return status === 'open' && isHeld ? ['portal:invoiceHeld', 'quiet'] : statusTexts[status]
}

type BalancesProps = Pick<InvoicesPageProps, 'portal' | 'balances'>

/** Shows the amounts that the next invoices take over, and the credit that open payments hold. */
function Balances({ portal, balances }: BalancesProps): ReactElement | null {
  const { t, formats } = portal.frame
  if (balances.length === 0) return null
  return (
    <div className="card">
      {balances.map(({ currency, amountMinor, heldMinor }) => {
        const freeMinor = amountMinor - heldMinor
        const money = (minor: bigint) => formats.money(minor, currency)
        return (
          <div key={currency}>
            {freeMinor > 0n && <p>{t('portal:balanceCredit', { amount: money(freeMinor) })}</p>}
            {freeMinor < 0n && <p>{t('portal:balanceOwed', { amount: money(-freeMinor) })}</p>}
            {heldMinor > 0n && <p>{t('portal:balanceHeld', { amount: money(heldMinor) })}</p>}
          </div>
        )
      })}
    </div>
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
  const { t, formats } = portal.frame
  const { money, date } = formats
  const dispute = worstDispute(payments)
  const [label, tone] =
    dispute === null || dispute === 'won' ? statusOf(invoice) : disputeTexts[dispute]
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
            {t.rich('portal:paidOn', { date: <span className="whole">{date(paidAt)}</span> })}
            {paidWith !== null && (
              <>
                {`, ${cardName(paidWith, { t })}`}
                {expiryText(paidWith) !== null && ` (${expiryText(paidWith)})`}
              </>
            )}
          </div>
        ))}
        {creditNotes.map((note) => (
          <CreditNoteLine key={note.reference} portal={portal} note={note} />
        ))}
        <DownloadLink path={path} name={text} t={t} />
      </td>
      <td>
        <span className={`badge ${tone}`}>{t(label)}</span>
        {status === 'open' &&
          due > 0n &&
          due !== totalMinor &&
          ` ${t('portal:amountLeft', { amount: money(due, currency) })}`}
      </td>
      <td className="number">{money(totalMinor, currency)}</td>
    </tr>
  )
}

type CreditNoteLineProps = { readonly portal: Portal; readonly note: CreditNote }

function CreditNoteLine({ portal, note }: CreditNoteLineProps): ReactElement {
  const { t, formats } = portal.frame
  const { reference, invoiceRef, number, createdAt, totalMinor, currency, voidedAt } = note
  const name = documentNumberText('credit_note', number, portal.caller.environment)
  const path = `${invoicePath(portal, invoiceRef)}/credit-notes/${encodeURIComponent(reference)}`
  const link = (
    <a className="whole" href={path}>
      {name}
    </a>
  )
  const amount = formats.money(totalMinor, currency)
  const date = <span className="whole">{formats.date(createdAt)}</span>
  return (
    <div className="quiet">
      {voidedAt === null
        ? t.rich('portal:creditNote', { number: link, amount, date })
        : t.rich('portal:creditNoteVoid', { number: link, amount, date })}
    </div>
  )
}
