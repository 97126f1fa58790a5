import { parseUrl } from '@tollgate/schemas/parse-url'
import type { ReactElement } from 'react'
import type { OpenInteraction } from '../../customer-auth/interactions.ts'
import { isNativeRedirect } from '../../customer-auth/redirect-policy.ts'
import type { PlainKey } from '../texts/texts.ts'
import { Page } from '../page.tsx'
import { PostForm } from '../post-form.tsx'
import { SignedInAs } from './sign-in-pages.tsx'
import type { Visitor } from './visitor.ts'

type ConsentPageProps = {
  readonly visitor: Visitor
  readonly client: OpenInteraction['client']
  /** Name of the product that the client requests to use. */
  readonly productName: string
}

const scopeTexts: Readonly<Record<string, PlainKey>> = {
  openid: 'signIn:scopeOpenid',
  profile: 'signIn:scopeProfile',
  email: 'signIn:scopeEmail',
}

/**
 * The page on which a customer allows or refuses a client. Anyone can register a client under any name, so the page shows where the
 * client comes from and where it redirects to.
 */
export function ConsentPage({ visitor, client, productName }: ConsentPageProps): ReactElement {
  const { frame } = visitor
  const { t } = frame
  const name = client.name ?? t('signIn:clientUnnamed')
  const isLocal = isNativeRedirect(client.redirectUri)
  const host = publisherOf(client.clientId)
  return (
    <Page frame={frame} title={t('signIn:consentTitle', { client: name })} narrow>
      <section className="card">
        <h1>{t('signIn:consentTitle', { client: name })}</h1>
        <p>{t('signIn:consentText', { client: name, name: productName })}</p>
        <dl className="facts">
          <div className="broad">
            <dt>{t('signIn:clientPublisher')}</dt>
            <dd>{host ?? t('signIn:clientUnverified')}</dd>
          </div>
          <div className="broad">
            <dt>{t('signIn:clientRedirect')}</dt>
            <dd>
              {isLocal && `${t('signIn:redirectLocal')}: `}
              {redirectHostOf(client.redirectUri)}
            </dd>
          </div>
          <div className="broad">
            <dt>{t('signIn:clientMay')}</dt>
            {client.scopes.map((scope) => (
              <dd key={scope}>{t(scopeTexts[scope] ?? 'signIn:scopeOpenid')}</dd>
            ))}
          </div>
        </dl>
        {isLocal && <p className="quiet">{t('signIn:localWarning')}</p>}
        <PostForm page={visitor} path="/answer">
          <div className="actions">
            <button className="button main" type="submit" name="answer" value="allow">
              {t('signIn:allow')}
            </button>
            <button className="button" type="submit" name="answer" value="refuse">
              {t('signIn:refuse')}
            </button>
          </div>
        </PostForm>
        <SignedInAs visitor={visitor} />
      </section>
    </Page>
  )
}

/** Returns the host that publishes the client's metadata. The address of the metadata is the client's id. */
function publisherOf(clientId: string): string | undefined {
  return clientId.startsWith('https://') ? parseUrl(clientId)?.host : undefined
}

function redirectHostOf(redirectUri: string): string {
  const { protocol, host } = new URL(redirectUri)
  return /^https?:$/.test(protocol) ? host : `${protocol}//${host}`
}
