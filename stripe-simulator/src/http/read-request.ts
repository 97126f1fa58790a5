import type { FastifyRequest } from 'fastify'

/** Returns the path and the query of the URL. The query has no question mark. */
export function addressOf({ url }: FastifyRequest): { path: string; query: string } {
  const { pathname, search } = new URL(url, 'http://simulator')
  return { path: pathname, query: search.slice(1) }
}

/** Returns the body as sent, or an empty string if there is none. */
export function bodyOf({ body }: FastifyRequest): string {
  return typeof body === 'string' ? body : ''
}

/** Returns the segment that matches `:id` of the route. Empty if the route has none or no route matches. */
export function idOf({ params }: FastifyRequest): string {
  return (params as { readonly id?: string } | null)?.id ?? ''
}
