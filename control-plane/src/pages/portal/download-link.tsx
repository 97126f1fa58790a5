import type { ReactElement } from 'react'
import type { Reader } from '../reader.ts'
import type { Portal } from './portal.ts'

/** Returns the path of an invoice's document. */
export function invoicePath({ path }: Pick<Portal, 'path'>, invoiceRef: string): string {
  return `${path}/invoices/${encodeURIComponent(invoiceRef)}`
}

/** A link that saves a document under the name that the server sends, which is the document's number. */
export function DownloadLink(props: {
  readonly path: string
  readonly name: string
  readonly t: Reader['t']
}): ReactElement {
  const { path, name, t } = props
  return (
    <a className="button" href={path} download aria-label={t('portal:downloadNamed', { name })}>
      {t('portal:download')}
    </a>
  )
}
