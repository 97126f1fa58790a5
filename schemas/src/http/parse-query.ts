import { parse, type ParsedUrlQuery } from 'node:querystring'

/**
 * An empty parameter (`?status=&limit=`) counts as one that was not given: forms and URL builders leave such ones
 * behind, and `limit` must not become 0 by it.
 */
export function parseQuery(text: string): ParsedUrlQuery {
  const query = parse(text)
  for (const [name, value] of Object.entries(query)) if (value === '') delete query[name]
  return query
}
