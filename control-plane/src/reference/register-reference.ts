import { readFileSync } from 'node:fs'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ReactElement } from 'react'
import { z } from 'zod'
import type { ApiServer } from '../access/api-server.ts'
import { compressed, sendCompressed, type Compressed } from '../pages/compressed.ts'
import { noForeignOrigins, securityHeaders } from '../pages/security-headers.ts'
import { documentText } from '../pages/html-document.tsx'
import type { StaticFiles } from '../pages/static-files.ts'
import { ErrorsPage, GuidePage, MissingPage, SearchPage, SectionPage } from './content-pages.tsx'
import { sectionsOf, type ApiDescription } from './description-document.ts'
import type { DocsFrame } from './docs-page.tsx'
import { createSearch, type Search } from './search.ts'

type ReferenceOptions = {
  /** Public address of the installation, used in the examples. */
  readonly hostedUrl: string
  readonly basePath: string
  readonly files: StaticFiles
}

type RenderedPage = { readonly status: number; readonly html: Compressed }

type Reference = {
  /** Returns undefined if there is no such page. */
  readonly render: (slug: string) => ReactElement | undefined
  readonly search: Search
  readonly frame: DocsFrame
}

/** Pages change only when the process restarts, so browsers may cache them for 1 minute. */
const cacheControl = 'public, max-age=60'

/** Slug of the page for unknown addresses. */
const missingSlug = 'missing'

const searchQuery = z.object({ q: z.string().max(200).default('') })

/** Serves the API documentation under `/docs`. It needs no key, and its pages load nothing from other origins. */
export function registerReference(app: ApiServer, options: ReferenceOptions): void {
  let reference: Reference | undefined
  // Read the description at the first request, because it is complete only after every route is registered.
  const open = (): Reference =>
    (reference ??= createReference(app.swagger() as unknown as ApiDescription, options))
  const rendered = new Map<string, RenderedPage>()
  const page = (slug: string): RenderedPage => {
    const known = rendered.get(slug)
    if (known !== undefined) return known
    const { frame, render } = open()
    const element = render(slug)
    // Clients may request any address, so all addresses without a page share one cached page.
    if (element === undefined && slug !== missingSlug) return page(missingSlug)
    const renderedPage = {
      status: element === undefined ? 404 : 200,
      html: compressed(documentText(element ?? MissingPage({ frame }))),
    }
    rendered.set(slug, renderedPage)
    return renderedPage
  }
  const headers = { ...securityHeaders(noForeignOrigins), 'cache-control': cacheControl }
  const prepare = (reply: FastifyReply, status: number): FastifyReply =>
    reply.code(status).headers(headers).type('text/html; charset=utf-8')
  const send = (
    request: FastifyRequest,
    reply: FastifyReply,
    { status, html }: RenderedPage,
  ): FastifyReply => sendCompressed(request, prepare(reply, status), html)
  const schema = { hide: true }
  app.get('/docs', { schema }, (request, reply) => send(request, reply, page('guide')))
  app.get('/docs/', { schema }, (_request, reply) =>
    reply.redirect(`${options.basePath}/docs`, 301),
  )
  app.get('/docs/errors', { schema }, (request, reply) => send(request, reply, page('errors')))
  app.get(
    '/docs/reference/:slug',
    { schema: { ...schema, params: z.object({ slug: z.string() }) } },
    (request, reply) => send(request, reply, page(`reference/${request.params.slug}`)),
  )
  app.get('/docs/search', { schema: { ...schema, querystring: searchQuery } }, (request, reply) => {
    const { frame, search } = open()
    const query = request.query.q.trim()
    // The page is sent only once, so compressing it would cost more than it saves.
    return prepare(reply, 200).send(documentText(SearchPage({ frame, query, ...search(query) })))
  })
  app.get('/docs/*', { schema }, (request, reply) => send(request, reply, page(missingSlug)))
}

function createReference(description: ApiDescription, options: ReferenceOptions): Reference {
  const { hostedUrl, basePath, files } = options
  const address = hostedUrl.replace(/\/$/, '')
  const guide = readFileSync(new URL('../../../docs/getting-started.md', import.meta.url), 'utf8')
  const sections = sectionsOf(description)
  const frame: DocsFrame = {
    docsPath: `${basePath}/docs`,
    apiDescriptionPath: `${basePath}/v1/openapi.json`,
    files,
    sections,
  }
  return {
    frame,
    search: createSearch(frame, guide),
    render: (slug) => {
      if (slug === 'guide') return GuidePage({ frame, text: guide, address })
      if (slug === 'errors') return ErrorsPage({ frame })
      const section = sections.find((each) => `reference/${each.slug}` === slug)
      return section && SectionPage({ frame, section, description, address })
    },
  }
}
