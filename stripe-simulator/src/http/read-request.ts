import type { FastifyRequest } from 'fastify'

/** The path and the query of the address, the query without its question mark. */
export function addressOf({ url }: FastifyRequest): { path: string; query: string } {
  const { pathname, search } = new URL(url, 'http://simulator')
  return { path: pathname, query: search.slice(1) }
}

/** The body as it was sent; empty if there is none. */
export function bodyOf({ body }: FastifyRequest): string {
  return typeof body === 'string' ? body : ''
}

/** The segment that `:id` of the route stands for; empty if the route has none, or the path has no route. */
export function idOf({ params }: FastifyRequest): string {
  return (params as { readonly id?: string } | null)?.id ?? ''
}
