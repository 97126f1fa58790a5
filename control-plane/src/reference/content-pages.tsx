import type { ReactElement } from 'react'
import { errorCodes } from '@tollgate/schemas/http/error-codes'
import type { ApiDescription, Section } from './description-document.ts'
import { DocsPage, type DocsFrame } from './docs-page.tsx'
import { InlineMarkdown, Markdown } from './markdown.tsx'
import { OperationSection } from './operation-section.tsx'
import { hitsMax, queryCharsMin, type SearchHits } from './search.ts'

/** Address in the text of the guide in `docs`. The page replaces it by the address of the installation. */
const writtenAddress = 'http://127.0.0.1:8787'

export function GuidePage({
  frame,
  text,
  address,
}: {
  readonly frame: DocsFrame
  readonly text: string
  readonly address: string
}): ReactElement {
  // The browser may use a different address than the public one, so links stay relative to the current one.
  const here = text
    .replaceAll(`](${writtenAddress}/docs`, `](${frame.docsPath}`)
    .replaceAll(`](${writtenAddress}/v1/openapi.json`, `](${frame.apiDescriptionPath}`)
    .replaceAll(writtenAddress, address)
  return (
    <DocsPage frame={frame} title="Getting started" current="guide">
      <Markdown text={here} />
    </DocsPage>
  )
}

export function SectionPage({
  frame,
  section,
  description,
  address,
}: {
  readonly frame: DocsFrame
  readonly section: Section
  readonly description: ApiDescription
  readonly address: string
}): ReactElement {
  return (
    <DocsPage frame={frame} title={section.name} current={section.slug}>
      <h1>{section.name}</h1>
      <p>{section.description}.</p>
      {section.operations.map((placed) => (
        <OperationSection
          key={placed.operation.operationId}
          description={description}
          placed={placed}
          address={address}
          errorsPath={`${frame.docsPath}/errors`}
        />
      ))}
    </DocsPage>
  )
}

export function ErrorsPage({ frame }: { readonly frame: DocsFrame }): ReactElement {
  return (
    <DocsPage frame={frame} title="Error codes" current="errors">
      <h1>Error codes</h1>
      <p>
        <InlineMarkdown text="The body of every error has a stable `code` for programs, a `message` for people and the `requestId` for support. Codes keep their meaning; new ones may be added." />
      </p>
      <ul className="fields-list">
        {Object.entries(errorCodes).map(([code, { statuses, meaning, action }]) => (
          <li key={code} id={code}>
            <code className="field-name">{code}</code>{' '}
            <span className="status refusal">{statuses.join(', ')}</span>
            <p>
              <InlineMarkdown text={meaning} />
            </p>
            <p className="quiet small">
              <InlineMarkdown text={action} />
            </p>
          </li>
        ))}
      </ul>
    </DocsPage>
  )
}

export function SearchPage({
  frame,
  query,
  hits,
  total,
}: SearchHits & { readonly frame: DocsFrame; readonly query: string }): ReactElement {
  const count = total === 1 ? '1 result' : `${total} results`
  return (
    <DocsPage frame={frame} title="Search" current="search" query={query}>
      <h1>Search</h1>
      <p role="status">
        {count} for “{query}”
        {total > hitsMax && `. These are the first ${hitsMax}: add a word to see fewer.`}
        {query.length < queryCharsMin && `. Search for at least ${queryCharsMin} characters.`}
      </p>
      <ul className="fields-list">
        {hits.map(({ path, title, place, words }) => (
          <li key={path}>
            <a href={path}>{title}</a> <span className="quiet small">{place}</span>
            <p className="small">
              <InlineMarkdown text={words} />
            </p>
          </li>
        ))}
      </ul>
    </DocsPage>
  )
}

export function MissingPage({ frame }: { readonly frame: DocsFrame }): ReactElement {
  return (
    <DocsPage frame={frame} title="Page not found" current="">
      <h1>Page not found</h1>
      <p>
        This page does not exist. Choose a section, or search.{' '}
        <a href={frame.docsPath}>Getting started</a>
      </p>
    </DocsPage>
  )
}
