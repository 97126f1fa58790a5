import type { ReactElement } from 'react'
import type { LinkPurpose } from '@tollgate/domain/customer-auth/links'
import { Page } from '../page.tsx'
import { PostForm } from '../post-form.tsx'
import type { PlainKey } from '../texts/texts.ts'
import { SignedInAs } from './sign-in-pages.tsx'
import type { Visitor } from './visitor.ts'

const titles: Readonly<Record<LinkPurpose, PlainKey>> = {
  checkout: 'signIn:connectCheckoutTitle',
  topup: 'signIn:connectTopUpTitle',
  portal: 'signIn:connectPortalTitle',
}

type ConnectPageProps = { readonly visitor: Visitor; readonly purpose: LinkPurpose }

/** The page of a link. The customer continues with a form, so that programs that preview links do not use the link up. */
export function ConnectPage({ visitor, purpose }: ConnectPageProps): ReactElement {
  const { frame } = visitor
  const { t } = frame
  const title = t(titles[purpose])
  return (
    <Page frame={frame} title={title} narrow>
      <section className="card">
        <h1>{title}</h1>
        <p>{t('signIn:connectText')}</p>
        <PostForm page={visitor} path="/continue">
          <button className="button main" type="submit" autoFocus>
            {t('signIn:connect')}
          </button>
        </PostForm>
        <SignedInAs visitor={visitor} />
      </section>
    </Page>
  )
}

/** The page for a signed-in customer for whom the link is not intended. */
export function OtherCustomerPage({ visitor }: { readonly visitor: Visitor }): ReactElement {
  const { frame } = visitor
  const { t } = frame
  const title = t('shared:otherCustomerTitle')
  return (
    <Page frame={frame} title={title} narrow>
      <section className="card">
        <h1>{title}</h1>
        <p>{t('shared:otherCustomerText')}</p>
        <SignedInAs visitor={visitor} />
      </section>
    </Page>
  )
}
