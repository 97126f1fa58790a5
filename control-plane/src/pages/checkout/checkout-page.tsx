import type { ReactElement, ReactNode } from 'react'
import { Page } from '../page.tsx'
import type { Notice } from '../notice.tsx'
import { NoticeLine } from '../notice.tsx'
import type { Checkout } from './checkout.ts'

type CheckoutPageProps = {
  readonly checkout: Checkout
  readonly title: string
  readonly notice?: Notice | undefined
  readonly scripts?: readonly string[]
  /** Whether the page has two columns. */
  readonly isWide?: boolean
  readonly children: ReactNode
}

export function CheckoutPage(props: CheckoutPageProps): ReactElement {
  const { checkout, title, notice, scripts = [], isWide = false, children } = props
  const { frame, customer } = checkout
  return (
    <Page frame={frame} title={title} narrow={!isWide} scripts={[frame.files.script, ...scripts]}>
      <NoticeLine notice={notice} />
      {children}
      <p className="quiet small">{frame.t('checkout:forCustomer', { email: customer.email })}</p>
    </Page>
  )
}
