import { parse, type ParsedUrlQuery } from 'node:querystring'

/**
 * Parses a query. An empty parameter (`?status=&limit=`) counts as missing: forms and URL builders leave such parameters, and an
 * empty `limit` must not become 0.
 */
export function parseQuery(text: string): ParsedUrlQuery {
  const query = parse(text)
  for (const [name, value] of Object.entries(query)) if (value === '') delete query[name]
  return query
}
