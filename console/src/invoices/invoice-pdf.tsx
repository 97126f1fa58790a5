import type { ReactElement } from 'react'
import { Download } from '../parts/download.tsx'
import { useApi } from '../session/environment-api.tsx'
import type { Invoice } from './invoice.ts'

/** Downloads the invoice as the customer gets it. Drafts have no PDF. */
export function InvoicePdf({ invoice }: { readonly invoice: Invoice }): ReactElement | null {
  const { fetch } = useApi()
  const { reference, number } = invoice
  if (number === undefined) return null
  return (
    <Download
      label="Download PDF"
      fileName={`invoice-${number}.pdf`}
      request={async () => {
        const { data } = await fetch.GET('/v1/ui/invoices/{invoiceRef}/pdf', {
          params: { path: { invoiceRef: reference } },
          parseAs: 'blob',
        })
        return data as Blob
      }}
    />
  )
}
