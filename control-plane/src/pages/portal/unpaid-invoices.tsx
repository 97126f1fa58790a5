import type { ReactElement } from 'react'
import type { Invoice } from '@tollgate/domain/invoices/invoice'
import { listInvoices } from '@tollgate/domain/invoices/repository'
import { dueMinor } from '@tollgate/domain/invoices/transitions'
import { read, type ReadParts } from '../../access/read.ts'
import { invoiceName } from '../invoice-name.ts'
import type { Portal } from './portal.ts'

/** Maximum number of unpaid invoices. A customer's purchases are suspended long before that many. */
const unpaidShownMax = 50

/** Returns the customer's open invoices. */
export async function readUnpaid(
  pages: ReadParts,
  { caller, customer }: Pick<Portal, 'caller' | 'customer'>,
): Promise<readonly Invoice[]> {
  const filter = { customerRef: customer.reference, status: 'open' } as const
  const { invoices } = await read(pages, caller, (sql) =>
    listInvoices(sql, caller.providerId, filter, { limit: unpaidShownMax, offset: 0 }),
  )
  return invoices
}

/** Returns whether charging the saved card has failed, so that the customer must act. */
export function isUnpaid(invoice: Invoice): boolean {
  const { status, failedCharges, isHeld } = invoice
  return status === 'open' && failedCharges > 0 && !isHeld && dueMinor(invoice) > 0n
}

type UnpaidProps = { readonly portal: Portal; readonly invoices: readonly Invoice[] }

/** The invoices in the list that could not be charged. */
export function UnpaidInvoices({ portal, invoices }: UnpaidProps): ReactElement | null {
  const { t, formats } = portal.frame
  const unpaid = invoices.filter(isUnpaid)
  if (unpaid.length === 0) return null
  return (
    <section className="card call bad" aria-label={t('portal:toBePaid')}>
      <h2>{t('portal:paymentFailed')}</h2>
      {unpaid.map((invoice) => {
        const name = invoiceName(portal, invoice)
        const amount = formats.money(dueMinor(invoice), invoice.currency)
        return (
          <div key={invoice.reference} className="row spread wrap">
            <p>{t('portal:invoiceAmount', { invoice: name, amount })}</p>
            <a
              className="button main"
              href={unpaidPath(portal, invoice.reference)}
              aria-label={t('portal:payNowInvoice', { invoice: name })}
            >
              {t('portal:payNow')}
            </a>
          </div>
        )
      })}
    </section>
  )
}

export function unpaidPath({ path }: Pick<Portal, 'path'>, invoiceRef: string): string {
  return `${path}/invoices/${encodeURIComponent(invoiceRef)}/pay`
}
