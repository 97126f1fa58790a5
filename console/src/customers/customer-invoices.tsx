import type { ReactElement } from 'react'
import { InvoiceTable } from '../parts/invoice-table.tsx'
import { Empty } from '../parts/empty.tsx'
import { useApi } from '../session/environment-api.tsx'

const shownMax = 20

/** Shows the newest invoices of the customer. */
export function CustomerInvoices({ customerRef }: { readonly customerRef: string }): ReactElement {
  const { hooks } = useApi()
  const query = { customerRef, limit: shownMax }
  const { data } = hooks.useSuspenseQuery('get', '/v1/ui/invoices', { params: { query } })
  if (data.invoices.length === 0) {
    return <Empty title="No invoices yet">An invoice follows a payment or a billed period.</Empty>
  }
  return <InvoiceTable invoices={data.invoices} isOfOneCustomer />
}
