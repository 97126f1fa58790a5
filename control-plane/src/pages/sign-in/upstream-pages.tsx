import type { ReactElement } from 'react'
import type { CustomerAuth } from '../../customer-auth/customer-auth.ts'
import { Page } from '../page.tsx'
import { PostForm } from '../post-form.tsx'
import type { Visitor } from './visitor.ts'

type UpstreamButtonsProps = {
  readonly visitor: Visitor
  readonly upstreams: CustomerAuth['upstreams']
}

/**
 * Buttons for the configured upstreams. They are forms instead of links, so that another site cannot start a sign-in for its
 * visitor.
 */
export function UpstreamButtons(props: UpstreamButtonsProps): ReactElement | null {
  const { visitor, upstreams } = props
  if (upstreams.size === 0) return null
  const { t } = visitor.frame
  return (
    <>
      <p className="divider">{t('signIn:or')}</p>
      <div className="stack">
        {[...upstreams].map(([name, { label }]) => (
          <PostForm key={name} page={visitor} path={`/upstream/${name}`}>
            <button className="button broad" type="submit">
              {t('signIn:continueWith', { name: label })}
            </button>
          </PostForm>
        ))}
      </div>
    </>
  )
}

type UpstreamRedirectPageProps = {
  readonly visitor: Visitor
  readonly label: string
  readonly address: string
}

/** The page before a redirect to the upstream. It also contains a button, in case the redirect does not happen. */
export function UpstreamRedirectPage({
  visitor,
  label,
  address,
}: UpstreamRedirectPageProps): ReactElement {
  const { frame } = visitor
  const { t } = frame
  const title = t('signIn:continueWith', { name: label })
  return (
    <Page frame={frame} title={title} narrow>
      <section className="card">
        <h1>{title}</h1>
        <p>{t('signIn:leavingText', { name: label })}</p>
        <a className="button main" href={address}>
          {title}
        </a>
      </section>
    </Page>
  )
}
