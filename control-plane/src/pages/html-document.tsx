import type { ReactElement, ReactNode } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'

type HtmlDocumentProps = {
  /** BCP 47. */
  readonly language: string
  /** Text of the tab. */
  readonly title: string
  /** Addresses, each on top of the one before. */
  readonly stylesheets: readonly string[]
  readonly icon: string
  readonly scripts: readonly string[]
  /** Text of the link to the element `main`, which is first on each page. */
  readonly skipText: string
  readonly children: ReactNode
}

/** The document around the content of every page. The content has an element with the id `main`. */
export function HtmlDocument(props: HtmlDocumentProps): ReactElement {
  const { language, title, stylesheets, icon, scripts, skipText, children } = props
  return (
    <html lang={language}>
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{title}</title>
        {stylesheets.map((address) => (
          <link key={address} rel="stylesheet" href={address} />
        ))}
        <link rel="icon" href={icon} />
        {scripts.map((address) => (
          <script key={address} src={address} defer />
        ))}
      </head>
      <body>
        <a className="skip" href="#main">
          {skipText}
        </a>
        {children}
      </body>
    </html>
  )
}

/** Returns the text of a whole page. */
export function documentText(page: ReactElement): string {
  return `<!doctype html>${renderToStaticMarkup(page)}`
}
