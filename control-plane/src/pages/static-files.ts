import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { ApiServer } from '../http/api-server.ts'
import { compressed, sendCompressed, type Compressed } from './compressed.ts'

/** Where each of our own files is served, with what is in it as part of the address. */
export type StaticFiles = {
  readonly stylesheet: string
  readonly script: string
  /** For Stripe's element. */
  readonly payment: string
  /** For the documentation, beside the stylesheet of all pages. */
  readonly docsStylesheet: string
  readonly docsScript: string
  /** Of the tab, where the provider has none. */
  readonly icon: string
}

type StaticFile = { readonly path: string; readonly type: string; readonly content: Compressed }

/** The address changes with the file. */
const cacheControl = 'public, max-age=31536000, immutable'

/** Serves what the pages load. */
export function registerStaticFiles(app: ApiServer, basePath: string): StaticFiles {
  const stylesheet = fileOf('pages.css', 'text/css; charset=utf-8')
  const script = fileOf('pages.js', 'text/javascript; charset=utf-8')
  const payment = fileOf('payment.js', 'text/javascript; charset=utf-8')
  const docsStylesheet = fileOf('docs.css', 'text/css; charset=utf-8')
  const docsScript = fileOf('docs.js', 'text/javascript; charset=utf-8')
  const icon = fileOf('icon.svg', 'image/svg+xml')
  for (const file of [stylesheet, script, payment, docsStylesheet, docsScript, icon]) {
    app.get(file.path, { schema: { hide: true } }, (request, reply) => {
      void reply.type(file.type).header('cache-control', cacheControl)
      return sendCompressed(request, reply, file.content)
    })
  }
  return {
    stylesheet: basePath + stylesheet.path,
    script: basePath + script.path,
    payment: basePath + payment.path,
    docsStylesheet: basePath + docsStylesheet.path,
    docsScript: basePath + docsScript.path,
    icon: basePath + icon.path,
  }
}

function fileOf(name: string, type: string): StaticFile {
  const text = readFileSync(new URL(`../../public/${name}`, import.meta.url), 'utf8')
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 16)
  return { path: `/customer/files/${digest}/${name}`, type, content: compressed(text) }
}
