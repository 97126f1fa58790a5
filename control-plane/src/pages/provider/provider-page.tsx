import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ReactElement, ReactNode } from 'react'
import { documentText, HtmlDocument } from '../html-document.tsx'
import { noForeignOrigins, securityHeaders } from '../security-headers.ts'
import type { StaticFiles } from '../static-files.ts'

/*
 * Pages for providers and operators: the page at `/` and the pages under `/console`. Unlike the pages for customers, they name no
 * merchant and are in English.
 */

/** Address of the pages and of the files that they load. */
export type ProviderFrame = {
  /** Path before all paths of this service, if the installation is not at the root of its address. */
  readonly basePath: string
  readonly files: StaticFiles
}

type ProviderPageProps = {
  readonly frame: ProviderFrame
  /** Title of the browser tab. The heading of the page is among the children. */
  readonly title: string
  /** Whether the page has one column, for a single task. */
  readonly narrow?: boolean
  readonly children: ReactNode
}

export function ProviderPage(props: ProviderPageProps): ReactElement {
  const { frame, title, narrow = false, children } = props
  const { basePath, files } = frame
  return (
    <HtmlDocument
      language="en"
      title={`${title} · Tollgate`}
      stylesheets={[files.stylesheet, files.providerStylesheet]}
      icon={files.icon}
      scripts={[files.script, files.copyScript, files.providerScript]}
      skipText="Skip to the content"
    >
      <header className="top">
        <div className="wide row">
          <a className="brand" href={`${basePath}/`}>
            Tollgate
          </a>
        </div>
      </header>
      <main id="main" className={narrow ? 'narrow' : 'wide'} tabIndex={-1}>
        {children}
      </main>
    </HtmlDocument>
  )
}

const headers = securityHeaders(noForeignOrigins)

/** Sends a page with the same security headers as the hosted pages. */
export function sendProviderPage(
  reply: FastifyReply,
  status: number,
  page: ReactElement,
): FastifyReply {
  return reply
    .code(status)
    .headers(headers)
    .type('text/html; charset=utf-8')
    .send(documentText(page))
}

/** Redirects the browser with a GET. `path` must be a path of this service, never text of the request. */
export function seeOther(reply: FastifyReply, path: string): FastifyReply {
  return reply.header('cache-control', 'no-store').redirect(path, 303)
}

/**
 * Returns whether a browser requests a page. Some HTTP libraries accept `text/html` by default, so a request with a key counts as
 * one of a program.
 */
export function wantsPage({ method, headers }: FastifyRequest): boolean {
  const hasKey = headers.authorization !== undefined || headers['x-api-key'] !== undefined
  const reads = method === 'GET' || method === 'HEAD'
  return reads && !hasKey && headers.accept?.includes('text/html') === true
}
