import type { ReactElement } from 'react'
import type { Portal } from './portal.ts'

/** Where the document of an invoice is. */
export function invoicePath({ path }: Pick<Portal, 'path'>, invoiceRef: string): string {
  return `${path}/invoices/${encodeURIComponent(invoiceRef)}`
}

/** Saves the document under the name that the server gives it, which is its number. */
export function DownloadLink(props: {
  readonly path: string
  readonly name: string
}): ReactElement {
  const { path, name } = props
  return (
    <a className="button" href={path} download aria-label={`Download ${name}`}>
      Download
    </a>
  )
}
