import type { ReactElement, ReactNode } from 'react'
import { useApi } from '../session/environment-api.tsx'
import { PageLink } from './page-link.tsx'

/** Links to the page of the invoice in the environment of the page. */
export function InvoiceLink(props: {
  readonly invoiceRef: string
  readonly children: ReactNode
}): ReactElement {
  const { invoiceRef, children } = props
  const { environment } = useApi()
  return (
    <PageLink to="/$environment/invoices/$invoiceRef" params={{ environment, invoiceRef }}>
      {children}
    </PageLink>
  )
}
