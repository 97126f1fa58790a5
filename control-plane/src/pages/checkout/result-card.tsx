import type { ReactElement, ReactNode } from 'react'
import { isWebAddress } from '../page.tsx'
import { PostForm } from '../post-form.tsx'
import type { AccountAccess } from './account-routes.ts'
import type { Checkout } from './checkout.ts'
import { CheckoutPage } from './checkout-page.tsx'

export type ResultRow = { readonly label: string; readonly value: ReactNode }

type ResultCardProps = {
  readonly checkout: Checkout
  readonly title: string
  readonly text?: string | undefined
  /** Whether the customer still has something to do. The children show it. */
  readonly isOpen?: boolean
  readonly rows: readonly ResultRow[]
  readonly account: AccountAccess | undefined
  /** Reference of the payment that the page shows, if this payment did not complete the checkout. */
  readonly payment?: string
  readonly children?: ReactNode
}

/**
 * The page after a completed step. It contains a link instead of redirecting: the content security policy, which restricts forms to
 * this installation, would block a redirect, and the customer should see the result.
 */
export function ResultCard(props: ResultCardProps): ReactElement {
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
        <ReturnLink checkout={checkout} isMain={children === undefined || children === false} />
        {account !== undefined && (
          <AccountLink checkout={checkout} account={account} payment={payment} />
        )}
        {!isReturnAllowed(checkout) && !isOpen && (
          <p className="quiet">{t('checkout:closeWindow')}</p>
        )}
      </div>
    </CheckoutPage>
  )
}

function isReturnAllowed({ session: { returnUrl }, frame: { merchant } }: Checkout): boolean {
  if (returnUrl === null || !isWebAddress(returnUrl)) return false
  return merchant === undefined || merchant.mayLinkTo(returnUrl)
}

type ReturnLinkProps = { readonly checkout: Checkout; readonly isMain: boolean }

function ReturnLink({ checkout, isMain }: ReturnLinkProps): ReactElement | null {
  const { returnUrl } = checkout.session
  const { merchant, t } = checkout.frame
  if (returnUrl === null || !isWebAddress(returnUrl)) return null
  const name = merchant?.name ?? ''
  if (!isReturnAllowed(checkout)) {
    const host = new URL(returnUrl).host
    return <p className="quiet">{t('checkout:wayBackRefused', { host, name })}</p>
  }
  return (
    <a className={isMain ? 'button main' : 'button'} href={returnUrl} rel="noreferrer">
      {t('checkout:backTo', { name })}
    </a>
  )
}

type AccountLinkProps = {
  readonly checkout: Checkout
  readonly account: AccountAccess
  readonly payment: string | undefined
}

function AccountLink({ checkout, account, payment }: AccountLinkProps): ReactElement | null {
  const { t } = checkout.frame
  const label = t('checkout:openAccount')
  if (account.kind === 'portal') {
    // If the checkout was opened in the portal, its return link already leads there.
    if (isReturnAllowed(checkout) && checkout.session.returnUrl?.endsWith(account.path) === true)
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
