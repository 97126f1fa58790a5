import type { ReactElement, ReactNode } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'

type HtmlDocumentProps = {
  /** Language as a BCP 47 tag. */
  readonly language: string
  /** Title in the browser tab. */
  readonly title: string
  /** Addresses of stylesheets. A later one overrides an earlier one. */
  readonly stylesheets: readonly string[]
  readonly icon: string
  readonly scripts: readonly string[]
  /** Text of the first link on each page, which skips to the element `main`. */
  readonly skipText: string
  readonly children: ReactNode
}

/** The HTML document around the content of every page. The content must contain an element with the id `main`. */
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

/** Returns the HTML text of a complete page. */
export function documentText(page: ReactElement): string {
  return `<!doctype html>${renderToStaticMarkup(page)}`
}
