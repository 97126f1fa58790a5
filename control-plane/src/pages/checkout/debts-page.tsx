import type { ReactElement } from 'react'
import type { Invoice } from '@tollgate/domain/invoices/invoice'
import { dueMinor } from '@tollgate/domain/invoices/transitions'
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
  return (
    <CheckoutPage checkout={checkout} title="Unpaid invoices" notice={notice}>
      <h1>Please pay what is open first</h1>
      <p className="quiet">
        A plan that was paused for an unpaid invoice continues as soon as the invoice is paid. After
        that you can choose another plan.
      </p>
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
  const amount = checkout.frame.formats.money(dueMinor(invoice), currency)
  return (
    <section className="card" aria-label={name}>
      <p className="row spread">
        <span>{name}</span>
        <strong>{amount}</strong>
      </p>
      {isHeld ? (
        <p className="quiet">
          This invoice is too large to be paid by card here. Please get in touch to pay it.
        </p>
      ) : (
        <PostForm page={checkout} path={debtPath(reference)}>
          <button className="button main broad" type="submit" aria-label={`Pay ${amount}: ${name}`}>
            {`Pay ${amount}`}
          </button>
        </PostForm>
      )}
    </section>
  )
}

function debtPath(invoiceRef: string): string {
  return `/debts/${encodeURIComponent(invoiceRef)}`
}
