import { parseUrl } from '@tollgate/schemas/parse-url'
import type { FastifyReply } from 'fastify'
import type { ReactElement, ReactNode } from 'react'
import { accentStylesheetPath } from './accent-stylesheet.ts'
import type { Frame } from './frame.ts'
import { documentText, HtmlDocument } from './html-document.tsx'

/** Sends a page. */
export function sendPage(reply: FastifyReply, status: number, page: ReactElement): FastifyReply {
  return reply.code(status).type('text/html; charset=utf-8').send(documentText(page))
}

export type PageProps = {
  readonly frame: Frame
  /** Title of the browser tab. The heading of the page is among the children. */
  readonly title: string
  readonly navigation?: ReactNode
  /** Whether the page has one column, for a single task. */
  readonly narrow?: boolean
  readonly scripts?: readonly string[]
  readonly children: ReactNode
}

export function Page(props: PageProps): ReactElement {
  const { frame, title, navigation, narrow, scripts, children } = props
  const { merchant, files, isSandbox, basePath, language, t } = frame
  const accent = merchant?.accentColor ?? null
  return (
    <HtmlDocument
      language={language}
      title={merchant === undefined ? title : `${title} · ${merchant.name}`}
      stylesheets={[
        files.stylesheet,
        ...(accent === null ? [] : [accentStylesheetPath(basePath, accent)]),
      ]}
      icon={merchant?.icon ?? files.icon}
      scripts={scripts ?? []}
      skipText={t('shared:skipToContent')}
    >
      <header className="top">
        {isSandbox && <p className="sandbox">{t('shared:testMode')}</p>}
        <div className="wide row">
          <Brand merchant={merchant} t={t} />
        </div>
        {navigation}
      </header>
      <main id="main" className={narrow ? 'narrow' : 'wide'} tabIndex={-1}>
        {children}
      </main>
      <Footer merchant={merchant} t={t} />
    </HtmlDocument>
  )
}

type MerchantProps = Pick<Frame, 'merchant' | 't'>

function Brand({ merchant, t }: MerchantProps): ReactElement {
  if (merchant === undefined) return <span className="brand">{t('shared:billing')}</span>
  const { logo, icon, name } = merchant
  if (logo !== null) {
    return (
      <span className="brand">
        <img className="logo" src={logo} alt={name} />
      </span>
    )
  }
  return (
    <span className="brand">
      {icon !== null && <img className="icon" src={icon} alt="" />}
      {name}
    </span>
  )
}

function Footer({ merchant, t }: MerchantProps): ReactElement | null {
  if (merchant === undefined) return null
  const { legalName, supportEmail, supportUrl, termsUrl, privacyUrl } = merchant
  return (
    <footer className="bottom">
      <div className="wide row">
        <span>{legalName}</span>
        <ul className="links">
          {supportEmail !== null && (
            <li>
              <a href={`mailto:${supportEmail}`}>{supportEmail}</a>
            </li>
          )}
          <OutsideLink href={supportUrl} label={t('shared:support')} />
          <OutsideLink href={termsUrl} label={t('shared:terms')} />
          <OutsideLink href={privacyUrl} label={t('shared:privacy')} />
        </ul>
      </div>
    </footer>
  )
}

function OutsideLink({ href, label }: { readonly href: string | null; readonly label: string }) {
  if (href === null || !isWebAddress(href)) return null
  return (
    <li>
      <a href={href} rel="noreferrer">
        {label}
      </a>
    </li>
  )
}

/** Returns whether the text is a web address. The text comes from the provider, and a link that runs a script must not be shown. */
export function isWebAddress(text: string): boolean {
  return /^https?:$/.test(parseUrl(text)?.protocol ?? '')
}
