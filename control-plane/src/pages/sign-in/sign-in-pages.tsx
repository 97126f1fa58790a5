import type { ReactElement } from 'react'
import { sharedCodeDigits } from '@tollgate/domain/customer-auth/sign-in-codes'
import type { CustomerAuth } from '../../customer-auth/customer-auth.ts'
import { NoticeLine, type Notice } from '../notice.tsx'
import { Page } from '../page.tsx'
import { PostForm } from '../post-form.tsx'
import { UpstreamButtons } from './upstream-pages.tsx'
import type { Visitor } from './visitor.ts'

type EmailPageProps = {
  readonly visitor: Visitor
  readonly upstreams: CustomerAuth['upstreams']
  readonly email?: string
  readonly notice?: Notice | undefined
}

export function EmailPage(props: EmailPageProps): ReactElement {
  const { visitor, upstreams, email = '', notice } = props
  const { frame } = visitor
  const { t, merchant } = frame
  const title =
    merchant === undefined ? t('signIn:title') : t('signIn:titleWith', { name: merchant.name })
  return (
    <Page frame={frame} title={t('signIn:title')} narrow>
      <NoticeLine notice={notice} />
      <section className="card">
        <h1>{title}</h1>
        <p className="quiet">{t('signIn:emailText')}</p>
        <PostForm page={visitor} path="/email">
          <div className="stack">
            <label>
              {t('signIn:email')}
              <input
                name="email"
                type="email"
                required
                maxLength={254}
                autoComplete="email"
                defaultValue={email}
                autoFocus={notice === undefined}
              />
            </label>
            <button className="button main" type="submit">
              {t('signIn:sendCode')}
            </button>
          </div>
        </PostForm>
        <UpstreamButtons visitor={visitor} upstreams={upstreams} />
      </section>
    </Page>
  )
}

type CodePageProps = {
  readonly visitor: Visitor
  readonly email: string
  /** Whether the code is the long one, which may have been sent earlier. */
  readonly isShared: boolean
  /** Path of the page that shows stored mail. Undefined if mail is sent. */
  readonly inboxPath: string | undefined
  readonly notice?: Notice | undefined
}

export function CodePage({
  visitor,
  email,
  isShared,
  inboxPath,
  notice,
}: CodePageProps): ReactElement {
  const { frame, path } = visitor
  const { t } = frame
  const sentText = isShared ? 'signIn:codeSentShared' : 'signIn:codeSent'
  return (
    <Page frame={frame} title={t('signIn:codeTitle')} narrow>
      <NoticeLine notice={notice} />
      <section className="card">
        <h1>{t('signIn:codeTitle')}</h1>
        <p>{t.rich(sentText, { email: <strong>{email}</strong> })}</p>
        {inboxPath !== undefined && (
          <p className="quiet">
            {t.rich('signIn:codeInbox', {
              inbox: (
                <a href={inboxPath} target="_blank" rel="noopener">
                  {t('signIn:codeInboxLink')}
                </a>
              ),
            })}
          </p>
        )}
        <PostForm page={visitor} path="/code">
          <div className="stack">
            <label>
              {t('signIn:code')}
              <input
                name="code"
                required
                inputMode="numeric"
                autoComplete="one-time-code"
                maxLength={sharedCodeDigits + 4}
                autoFocus={notice === undefined}
              />
            </label>
            <button className="button main" type="submit">
              {t('signIn:signIn')}
            </button>
          </div>
        </PostForm>
        <p>
          <a href={path}>{t('signIn:otherEmail')}</a>
        </p>
      </section>
    </Page>
  )
}

/** Shows which customer is signed in, with a form to sign out. */
export function SignedInAs({ visitor }: { readonly visitor: Visitor }): ReactElement {
  const { frame, session } = visitor
  const { t } = frame
  const email = <strong>{session?.email ?? ''}</strong>
  return (
    <PostForm page={visitor} path="/sign-out">
      <div className="row spread wrap">
        <span className="quiet">{t.rich('signIn:signedInAs', { email })}</span>
        <button className="button" type="submit">
          {t('signIn:otherEmail')}
        </button>
      </div>
    </PostForm>
  )
}
