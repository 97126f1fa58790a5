import type { ReactElement, ReactNode } from 'react'
import { HtmlDocument } from '../pages/html-document.tsx'
import type { StaticFiles } from '../pages/static-files.ts'
import type { Section } from './description-document.ts'

export type DocsFrame = {
  /** Path of the documentation, including the base path if the installation is not at the root of its address. */
  readonly docsPath: string
  readonly apiDescriptionPath: string
  readonly files: StaticFiles
  readonly sections: readonly Section[]
}

type DocsPageProps = {
  readonly frame: DocsFrame
  readonly title: string
  /** Slug of the current page. */
  readonly current: string
  /** Text in the search field. */
  readonly query?: string
  readonly children: ReactNode
}

/** The frame of every documentation page: search field, sections and content. */
export function DocsPage({ frame, title, current, query, children }: DocsPageProps): ReactElement {
  const { docsPath, apiDescriptionPath, files, sections } = frame
  return (
    <HtmlDocument
      language="en"
      title={`${title} · Tollgate API`}
      stylesheets={[files.stylesheet, files.docsStylesheet]}
      icon={files.icon}
      scripts={[files.copyScript]}
      skipText="Skip to the content"
    >
      <header className="top">
        <div className="docs-width row wrap spread">
          <a className="brand" href={docsPath}>
            <img className="icon" src={files.icon} alt="" />
            Tollgate API
          </a>
          <form className="search" role="search" action={`${docsPath}/search`}>
            <label className="hidden" htmlFor="search">
              Search the documentation
            </label>
            <input
              id="search"
              type="search"
              name="q"
              defaultValue={query}
              placeholder="Search"
              required
            />
            <button className="button" type="submit">
              Search
            </button>
          </form>
        </div>
      </header>
      <div className="docs-width docs">
        <div className="beside">
          <Sections docsPath={docsPath} sections={sections} current={current} />
        </div>
        <details className="folded">
          <summary>Sections</summary>
          <Sections docsPath={docsPath} sections={sections} current={current} />
        </details>
        <main id="main" tabIndex={-1}>
          {children}
        </main>
      </div>
      <footer className="bottom">
        <div className="docs-width row">
          <a href={apiDescriptionPath}>OpenAPI description</a>
        </div>
      </footer>
    </HtmlDocument>
  )
}

type SectionsProps = Pick<DocsFrame, 'docsPath' | 'sections'> & { readonly current: string }

function Sections({ docsPath, sections, current }: SectionsProps): ReactElement {
  const link = (slug: string, name: string, path: string): ReactElement => (
    <a href={path} aria-current={slug === current ? 'page' : undefined}>
      {name}
    </a>
  )
  return (
    <nav className="sections" aria-label="Documentation">
      <ul>
        <li>{link('guide', 'Getting started', docsPath)}</li>
        <li>{link('errors', 'Error codes', `${docsPath}/errors`)}</li>
        {sections.map(({ slug, name, operations }) => (
          <li key={slug}>
            {link(slug, name, sectionPath(docsPath, slug))}
            {slug === current && (
              <ul>
                {operations.map(({ method, path, operation }) => (
                  <li key={operation.operationId}>
                    <a href={`#${operation.operationId}`}>
                      {method === 'event' ? path : operation.summary}
                    </a>
                  </li>
                ))}
              </ul>
            )}
          </li>
        ))}
      </ul>
    </nav>
  )
}

export function sectionPath(docsPath: string, slug: string): string {
  return `${docsPath}/reference/${slug}`
}
