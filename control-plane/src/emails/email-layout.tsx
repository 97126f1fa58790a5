import type { CSSProperties, ReactElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { tonesOf, type HexColor } from '../pages/accent.ts'
import type { Reader } from '../pages/reader.ts'
import type { EmailContent } from './email-content.ts'

/*
 * The frame of every email. Mail programs support tables and inline styles, so the light colors are inline. Programs that know
 * `prefers-color-scheme` take the dark ones from the only stylesheet.
 */

/** The parts around the content of an email. All texts are plain, and React escapes them. */
export type EmailFrame = {
  readonly reader: Reader
  readonly merchant: {
    readonly name: string
    readonly legalName: string
    /** `#rrggbb` in lower case. Null means the default color. */
    readonly accentColor: string | null
    /** Absolute address of the logo. Null: the name is shown. */
    readonly logoUrl: string | null
    readonly supportEmail: string | null
    readonly address: readonly string[]
  }
  readonly isSandbox: boolean
  /** Name of the customer, or null. */
  readonly customerName: string | null
  /** Address of the link to the portal. Null: there is none. */
  readonly accountUrl: string | null
  /** How long the link to the portal is valid, in seconds. */
  readonly accountSeconds: number
  /** Address at which the customer unsubscribes. Null for emails that belong to the contract. */
  readonly unsubscribeUrl: string | null
}

const defaultAccent: HexColor = '#2f4fd0'

const light = {
  page: '#f6f7f9',
  card: '#ffffff',
  ink: '#1a1f2b',
  quiet: '#59626f',
  rule: '#d5d9e2',
  sandboxInk: '#5c3d00',
  sandbox: '#fdf0d5',
} as const

const dark = {
  page: '#12151a',
  card: '#1b2027',
  ink: '#e8ebf0',
  quiet: '#a7b0be',
  rule: '#343b46',
  sandboxInk: '#f6d58f',
  sandbox: '#3a2c11',
} as const

const fonts = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", Arial, sans-serif'

const stylesheet = [
  ':root{color-scheme:light dark}',
  '@media (prefers-color-scheme:dark){',
  `.page{background:${dark.page}!important}`,
  `.card{background:${dark.card}!important;border-color:${dark.rule}!important}`,
  `.ink{color:${dark.ink}!important}`,
  `.quiet{color:${dark.quiet}!important}`,
  `.rule{border-color:${dark.rule}!important}`,
  `.sandbox{background:${dark.sandbox}!important;color:${dark.sandboxInk}!important}`,
  '}',
].join('')

/** Returns the HTML text of the email. */
export function htmlOf(content: EmailContent, frame: EmailFrame): string {
  return `<!doctype html>${renderToStaticMarkup(<EmailDocument content={content} frame={frame} />)}`
}

type Props = { readonly content: EmailContent; readonly frame: EmailFrame }

function EmailDocument({ content, frame }: Props): ReactElement {
  const { reader, merchant } = frame
  const accent = (merchant.accentColor ?? defaultAccent) as HexColor
  return (
    <html lang={reader.language}>
      <head>
        <meta httpEquiv="content-type" content="text/html; charset=utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="supported-color-schemes" content="light dark" />
        <title>{content.subject}</title>
        {/* Made of constants, so it needs no escaping. */}
        <style dangerouslySetInnerHTML={{ __html: stylesheet }} />
      </head>
      <body className="page" style={{ margin: 0, padding: 0, background: light.page }}>
        {/* Mail programs show the first text beside the subject. */}
        <div style={{ display: 'none', overflow: 'hidden', maxHeight: 0 }}>
          {content.paragraphs[0]}
        </div>
        <div role="main">
          <Table className="page" style={{ background: light.page, tableLayout: 'fixed' }}>
            <tr>
              <td align="center" style={{ padding: '24px 12px' }}>
                <Table style={{ maxWidth: 560, tableLayout: 'fixed' }}>
                  <Header frame={frame} />
                  <Card content={content} frame={frame} accent={accent} />
                  <Footer frame={frame} />
                </Table>
              </td>
            </tr>
          </Table>
        </div>
      </body>
    </html>
  )
}

function Table({
  className,
  style,
  children,
}: {
  readonly className?: string
  readonly style?: CSSProperties
  readonly children: React.ReactNode
}): ReactElement {
  return (
    <table
      role="presentation"
      width="100%"
      cellPadding={0}
      cellSpacing={0}
      className={className}
      style={{ borderCollapse: 'separate', ...style }}
    >
      <tbody>{children}</tbody>
    </table>
  )
}

type AccentProps = { readonly frame: EmailFrame; readonly accent: HexColor }

function Header({ frame }: { readonly frame: EmailFrame }): ReactElement {
  const { merchant, isSandbox, reader } = frame
  const { name, logoUrl } = merchant
  return (
    <>
      {isSandbox && (
        <tr>
          <td
            className="sandbox"
            style={{
              ...{ background: light.sandbox, color: light.sandboxInk, borderRadius: 6 },
              ...{ padding: '8px 16px', font: `14px/20px ${fonts}`, textAlign: 'center' },
            }}
          >
            {reader.t('shared:testMode')}
          </td>
        </tr>
      )}
      <tr>
        <td
          className="ink"
          style={{
            padding: '16px 4px',
            overflowWrap: 'anywhere',
            font: `600 18px/24px ${fonts}`,
            color: light.ink,
          }}
        >
          {logoUrl === null ? (
            name
          ) : (
            // The background keeps dark logos readable in dark mode.
            <span style={{ display: 'inline-block', background: '#ffffff', borderRadius: 4 }}>
              <img
                src={logoUrl}
                alt={name}
                height={40}
                style={{ display: 'block', height: 40, maxWidth: 220, border: 0, padding: 4 }}
              />
            </span>
          )}
        </td>
      </tr>
    </>
  )
}

function Card({ content, frame, accent }: AccentProps & Props): ReactElement {
  const { reader, accountUrl, customerName, accountSeconds } = frame
  const { t, formats } = reader
  const text: CSSProperties = { margin: '0 0 16px', font: `16px/24px ${fonts}`, color: light.ink }
  const { accent: background, onAccent } = tonesOf(accent, 'light')
  return (
    <tr>
      <td
        className="card"
        style={{
          ...{ background: light.card, border: `1px solid ${light.rule}`, borderRadius: 8 },
          ...{ padding: 24, overflowWrap: 'anywhere', wordBreak: 'break-word' },
        }}
      >
        <h1
          className="ink"
          style={{ margin: '0 0 16px', font: `600 22px/28px ${fonts}`, color: light.ink }}
        >
          {content.title}
        </h1>
        <p className="ink" style={text}>
          {greetingOf(customerName, reader)}
        </p>
        {content.paragraphs.map((paragraph, index) => (
          <p key={index} className="ink" style={text}>
            {paragraph}
          </p>
        ))}
        {content.facts.length > 0 && <Facts facts={content.facts} />}
        {accountUrl !== null && (
          <>
            <p style={{ margin: '24px 0 8px' }}>
              <a
                href={accountUrl}
                style={{
                  ...{ display: 'inline-block', background, color: onAccent, borderRadius: 6 },
                  ...{ padding: '10px 18px', font: `600 16px/24px ${fonts}` },
                  textDecoration: 'none',
                }}
              >
                {t('emails:account')}
              </a>
            </p>
            <p
              className="quiet"
              style={{ margin: 0, font: `13px/20px ${fonts}`, color: light.quiet }}
            >
              {t('emails:accountSignIn', { duration: formats.duration(accountSeconds) })}
            </p>
          </>
        )}
      </td>
    </tr>
  )
}

function Facts({ facts }: Pick<EmailContent, 'facts'>): ReactElement {
  const cell: CSSProperties = {
    ...{ padding: '8px 0', verticalAlign: 'top', borderTop: `1px solid ${light.rule}` },
    font: `15px/22px ${fonts}`,
  }
  return (
    <table
      width="100%"
      cellPadding={0}
      cellSpacing={0}
      style={{ borderCollapse: 'collapse', tableLayout: 'fixed', margin: '0 0 16px' }}
    >
      <tbody>
        {facts.map(([name, value]) => (
          <tr key={name}>
            <th
              scope="row"
              className="quiet rule"
              style={{
                ...cell,
                width: '35%',
                textAlign: 'start',
                fontWeight: 400,
                color: light.quiet,
              }}
            >
              {name}
            </th>
            <td className="ink rule" style={{ ...cell, color: light.ink }}>
              {value}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Footer({ frame }: { readonly frame: EmailFrame }): ReactElement {
  const { reader, merchant, unsubscribeUrl } = frame
  const { t } = reader
  const line: CSSProperties = { margin: '0 0 4px', font: `13px/20px ${fonts}`, color: light.quiet }
  return (
    <tr>
      <td style={{ padding: '16px 4px', overflowWrap: 'anywhere' }}>
        {footerLinesOf(frame).map((text, index) => (
          <p key={index} className="quiet" style={line}>
            {text}
          </p>
        ))}
        {merchant.supportEmail !== null && (
          <p className="quiet" style={line}>
            {t.rich('shared:questions', {
              address: (
                <a
                  className="quiet"
                  href={`mailto:${encodeURIComponent(merchant.supportEmail).replaceAll('%40', '@')}`}
                  style={{ color: light.quiet }}
                >
                  {merchant.supportEmail}
                </a>
              ),
            })}
          </p>
        )}
        {unsubscribeUrl !== null && (
          <p className="quiet" style={line}>
            <a className="quiet" href={unsubscribeUrl} style={{ color: light.quiet }}>
              {t('emails:unsubscribe')}
            </a>
          </p>
        )}
      </td>
    </tr>
  )
}

/** Returns the text part of the email, with everything that the HTML part states. */
export function textOf(content: EmailContent, frame: EmailFrame): string {
  const { reader, merchant, accountUrl, accountSeconds, unsubscribeUrl } = frame
  const { t, formats } = reader
  const duration = formats.duration(accountSeconds)
  const parts = [
    ...(frame.isSandbox ? [t('shared:testMode')] : []),
    content.title,
    greetingOf(frame.customerName, reader),
    ...content.paragraphs,
    ...(content.facts.length === 0
      ? []
      : [content.facts.map(([name, value]) => `${name}: ${value}`).join('\n')]),
    ...(accountUrl === null
      ? []
      : [`${t('emails:account')}:\n${accountUrl}\n${t('emails:accountSignIn', { duration })}`]),
    '--',
    [
      ...footerLinesOf(frame),
      ...(merchant.supportEmail === null
        ? []
        : [t('shared:questions', { address: merchant.supportEmail })]),
      ...(unsubscribeUrl === null ? [] : [`${t('emails:unsubscribe')}:\n${unsubscribeUrl}`]),
    ].join('\n'),
  ]
  return `${parts.join('\n\n')}\n`
}

function greetingOf(customerName: string | null, { t }: Reader): string {
  return customerName === null ? t('emails:helloNobody') : t('emails:hello', { name: customerName })
}

function footerLinesOf({ reader, merchant }: EmailFrame): string[] {
  const { name, legalName, address } = merchant
  return [[legalName, ...address].join(', '), reader.t('emails:sentBecause', { name })]
}
