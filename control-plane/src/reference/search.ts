import { errorCodes } from '@tollgate/schemas/http/error-codes'
import type { Operation, PlacedOperation, Schema } from './description-document.ts'
import { sectionPath, type DocsFrame } from './docs-page.tsx'

type SearchHit = {
  readonly path: string
  readonly title: string
  /** Location of the entry, such as `POST /v1/sdk/limits`. */
  readonly place: string
  readonly words: string
}

/** The first hits, and the total number of hits. */
export type SearchHits = { readonly hits: readonly SearchHit[]; readonly total: number }

export type Search = (query: string) => SearchHits

/** Minimum length of a query, because nearly every text contains any single letter. */
export const queryCharsMin = 2
export const hitsMax = 30

type Entry = SearchHit & { readonly text: string }

/**
 * Returns a function that finds the entries that contain all words of a query. Entries with the words in their title come first.
 */
export function createSearch(frame: DocsFrame, guide: string): Search {
  const entries = [
    ...guideEntries(frame, guide),
    ...operationEntries(frame),
    ...errorEntries(frame),
  ]
  return (query) => {
    const words = query
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '')
    if (words.every((word) => word.length < queryCharsMin)) return { hits: [], total: 0 }
    const has = (text: string): boolean => words.every((word) => text.includes(word))
    const found = entries.filter(({ text }) => has(text))
    const isTitled = ({ title }: Entry): boolean => has(title.toLowerCase())
    const sorted = [...found.filter(isTitled), ...found.filter((entry) => !isTitled(entry))]
    return { hits: sorted.slice(0, hitsMax), total: found.length }
  }
}

function operationEntries({ docsPath, sections }: DocsFrame): readonly Entry[] {
  return sections.flatMap(({ slug, name, operations }) =>
    operations.map((placed) => operationEntry(sectionPath(docsPath, slug), name, placed)),
  )
}

function operationEntry(
  pagePath: string,
  section: string,
  { method, path, operation }: PlacedOperation,
): Entry {
  const { operationId, summary, description = '' } = operation
  const isEvent = method === 'event'
  const place = isEvent ? section : `${method.toUpperCase()} ${path}`
  const texts = [summary, description, place, path, operationId, section, ...fieldNames(operation)]
  return {
    path: `${pagePath}#${operationId}`,
    title: isEvent ? path : summary,
    place,
    words: isEvent ? summary : description,
    text: texts.join(' ').toLowerCase(),
  }
}

function fieldNames({ parameters = [], requestBody }: Operation): readonly string[] {
  const bodies = Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => schema ?? [])
  return [...parameters.map(({ name }) => name), ...bodies.flatMap(propertyNames)]
}

function propertyNames(schema: Schema): readonly string[] {
  const { properties = {}, items, anyOf = [], allOf = [] } = schema
  const inner = [...Object.values(properties), ...(items === undefined ? [] : [items])]
  return [...Object.keys(properties), ...[...inner, ...anyOf, ...allOf].flatMap(propertyNames)]
}

function errorEntries({ docsPath }: DocsFrame): readonly Entry[] {
  return Object.entries(errorCodes).map(([code, { statuses, meaning, action }]) => ({
    path: `${docsPath}/errors#${code}`,
    title: code,
    place: `Error ${statuses.join(', ')}`,
    words: meaning,
    text: `${code} ${statuses.join(' ')} ${meaning} ${action}`.toLowerCase(),
  }))
}

/** Returns one entry for each heading of the guide, with the text below it. */
function guideEntries({ docsPath }: DocsFrame, guide: string): readonly Entry[] {
  return guide
    .split(/^## /m)
    .slice(1)
    .map((part) => {
      const [title = '', ...lines] = part.split('\n')
      const words = lines.join('\n').trim().split('\n\n')[0] ?? ''
      return {
        path: `${docsPath}#${title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`,
        title,
        place: 'Getting started',
        words,
        text: part.toLowerCase(),
      }
    })
}
