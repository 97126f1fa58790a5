import type { ReactElement, ReactNode } from 'react'
import { isWebAddress } from '../page.tsx'
import { PostForm } from '../post-form.tsx'
import type { WayToAccount } from './account-routes.ts'
import type { Checkout } from './checkout.ts'
import { CheckoutPage } from './checkout-page.tsx'

export type DoneRow = { readonly label: string; readonly value: ReactNode }

type DoneCardProps = {
  readonly checkout: Checkout
  readonly title: string
  readonly text?: string | undefined
  /** Whether the customer still has something to do. The children show it. */
  readonly isOpen?: boolean
  readonly rows: readonly DoneRow[]
  readonly account: WayToAccount | undefined
  /** Reference of the payment that the page shows, if this payment did not complete the checkout. */
  readonly payment?: string
  readonly children?: ReactNode
}

/**
 * The page after a completed step. It contains a link instead of redirecting: the content security policy, which restricts forms to
 * this installation, would block a redirect, and the customer should see the result.
 */
export function DoneCard(props: DoneCardProps): ReactElement {
  const { checkout, title, text, isOpen = false, rows, account, payment, children } = props
  const { t } = checkout.frame
  return (
    <CheckoutPage checkout={checkout} title={title}>
      <div className="card centred">
        <h1 className="outcome">
          {!isOpen && (
            <span className="tick" role="img" aria-label={t('checkout:done')}>
              ✓
            </span>
          )}{' '}
          {title}
        </h1>
        {text !== undefined && <p>{text}</p>}
        {children}
        {rows.length > 0 && (
          <dl className="sums broad">
            {rows.map(({ label, value }) => (
              <div key={label}>
                <dt>{label}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        )}
        <WayBack checkout={checkout} isMain={children === undefined || children === false} />
        {account !== undefined && (
          <Account checkout={checkout} account={account} payment={payment} />
        )}
        {!leadsBack(checkout) && !isOpen && <p className="quiet">{t('checkout:closeWindow')}</p>}
      </div>
    </CheckoutPage>
  )
}

function leadsBack({ session: { returnUrl }, frame: { merchant } }: Checkout): boolean {
  if (returnUrl === null || !isWebAddress(returnUrl)) return false
  return merchant === undefined || merchant.mayLeadTo(returnUrl)
}

type WayBackProps = { readonly checkout: Checkout; readonly isMain: boolean }

function WayBack({ checkout, isMain }: WayBackProps): ReactElement | null {
  const { returnUrl } = checkout.session
  const { merchant, t } = checkout.frame
  if (returnUrl === null || !isWebAddress(returnUrl)) return null
  const name = merchant?.name ?? ''
  if (!leadsBack(checkout)) {
    const host = new URL(returnUrl).host
    return <p className="quiet">{t('checkout:wayBackRefused', { host, name })}</p>
  }
  return (
    <a className={isMain ? 'button main' : 'button'} href={returnUrl} rel="noreferrer">
      {t('checkout:backTo', { name })}
    </a>
  )
}

type AccountProps = {
  readonly checkout: Checkout
  readonly account: WayToAccount
  readonly payment: string | undefined
}

function Account({ checkout, account, payment }: AccountProps): ReactElement | null {
  const { t } = checkout.frame
  const label = t('checkout:openAccount')
  if (account.kind === 'portal') {
    // If the checkout was opened in the portal, its return link already leads there.
    if (leadsBack(checkout) && checkout.session.returnUrl?.endsWith(account.path) === true)
      return null
    return (
      <a className="button" href={account.path}>
        {label}
      </a>
    )
  }
  return (
    <PostForm page={checkout} path="/account">
      {payment !== undefined && <input type="hidden" name="payment" value={payment} />}
      <button className="button" type="submit">
        {label}
      </button>
    </PostForm>
  )
}
