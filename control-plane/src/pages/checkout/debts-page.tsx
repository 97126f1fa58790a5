import type { ReactElement } from 'react'
import type { Invoice } from '@tollgate/domain/invoices/invoice'
import { dueMinor } from '@tollgate/domain/invoices/transitions'
import { heldText } from '../held-text.ts'
import { invoiceName } from '../invoice-name.ts'
import type { Notice } from '../notice.tsx'
import { PostForm } from '../post-form.tsx'
import type { Checkout } from './checkout.ts'
import { CheckoutPage } from './checkout-page.tsx'

type DebtsPageProps = {
  readonly checkout: Checkout
  readonly invoices: readonly Invoice[]
  readonly notice: Notice | undefined
}

/** Unpaid invoices for the product, each with a button that leads to its payment. */
export function DebtsPage({ checkout, invoices, notice }: DebtsPageProps): ReactElement {
  const { t } = checkout.frame
  return (
    <CheckoutPage checkout={checkout} title={t('checkout:unpaidInvoices')} notice={notice}>
      <h1>{t('checkout:payInvoicesFirst')}</h1>
      <p className="quiet">{t('checkout:unpaidExplained')}</p>
      {invoices.map((invoice) => (
        <Debt key={invoice.reference} checkout={checkout} invoice={invoice} />
      ))}
    </CheckoutPage>
  )
}

function Debt(props: { readonly checkout: Checkout; readonly invoice: Invoice }): ReactElement {
  const { checkout, invoice } = props
  const { reference, isHeld, currency } = invoice
  const name = invoiceName(checkout, invoice)
  const { t, formats } = checkout.frame
  const amount = formats.money(dueMinor(invoice), currency)
  return (
    <section className="card" aria-label={name}>
      <p className="row spread">
        <span>{name}</span>
        <strong>{amount}</strong>
      </p>
      {isHeld ? (
        <p className="quiet">{heldText(invoice, checkout.frame)}</p>
      ) : (
        <PostForm page={checkout} path={debtPath(reference)}>
          <button
            className="button main broad"
            type="submit"
            aria-label={t('checkout:payInvoice', { amount, invoice: name })}
          >
            {t('checkout:payAmount', { amount })}
          </button>
        </PostForm>
      )}
    </section>
  )
}

function debtPath(invoiceRef: string): string {
  return `/debts/${encodeURIComponent(invoiceRef)}`
}
