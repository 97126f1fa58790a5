import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { notice } from '../parts/show-changed.ts'
import { useApi } from '../session/environment-api.tsx'
import type { Invoice } from './invoice.ts'

/** Downloads the invoice as the customer gets it. Drafts have no PDF. */
export function InvoicePdf({ invoice }: { readonly invoice: Invoice }): ReactElement | null {
  const { fetch } = useApi()
  const download = useMutation({
    mutationFn: async () => {
      const { data } = await fetch.GET('/v1/ui/invoices/{invoiceRef}/pdf', {
        params: { path: { invoiceRef: invoice.reference } },
        parseAs: 'blob',
      })
      return data as Blob
    },
    onSuccess: (document) => {
      save(document, `invoice-${invoice.number ?? invoice.reference}.pdf`)
    },
    onError: (error) => {
      notifications.show({
        ...notice,
        color: 'red',
        title: 'The PDF cannot be downloaded',
        message: error.message,
      })
    },
  })
  if (invoice.number === undefined) return null
  return (
    <Button
      size="xs"
      variant="default"
      loading={download.isPending}
      onClick={() => {
        download.mutate()
      }}
    >
      Download PDF
    </Button>
  )
}

function save(document: Blob, name: string): void {
  const url = URL.createObjectURL(document)
  const link = window.document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
