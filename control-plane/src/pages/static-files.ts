import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { ApiServer } from '../access/api-server.ts'
import { compressed, sendCompressed, type Compressed } from './compressed.ts'

/** Where each of our own files is served, with what is in it as part of the address. */
export type StaticFiles = {
  readonly stylesheet: string
  readonly script: string
  /** For Stripe's element. */
  readonly payment: string
  /** For the documentation, on top of the common one. */
  readonly docsStylesheet: string
  /** Adds the buttons that copy code. */
  readonly copyScript: string
  /** Of the tab, where the provider has none. */
  readonly icon: string
  /** On top of the common one, for the pages for providers. */
  readonly providerStylesheet: string
  readonly providerScript: string
}

type StaticFile = { readonly path: string; readonly type: string; readonly content: Compressed }

/** The address changes with the file. */
const cacheControl = 'public, max-age=31536000, immutable'

const types = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}

const files = {
  stylesheet: fileOf('pages.css', types.css),
  script: fileOf('pages.js', types.js),
  payment: fileOf('payment.js', types.js),
  docsStylesheet: fileOf('docs.css', types.css),
  copyScript: fileOf('copy.js', types.js),
  icon: fileOf('icon.svg', types.svg),
  providerStylesheet: fileOf('provider.css', types.css),
  providerScript: fileOf('provider.js', types.js),
}

/** Serves what the pages load. */
export function registerStaticFiles(app: ApiServer, basePath: string): StaticFiles {
  for (const file of Object.values(files)) {
    app.get(file.path, { schema: { hide: true } }, (request, reply) => {
      void reply.type(file.type).header('cache-control', cacheControl)
      return sendCompressed(request, reply, file.content)
    })
  }
  return staticFilesOf(basePath)
}

export function staticFilesOf(basePath: string): StaticFiles {
  return {
    stylesheet: basePath + files.stylesheet.path,
    script: basePath + files.script.path,
    payment: basePath + files.payment.path,
    docsStylesheet: basePath + files.docsStylesheet.path,
    copyScript: basePath + files.copyScript.path,
    icon: basePath + files.icon.path,
    providerStylesheet: basePath + files.providerStylesheet.path,
    providerScript: basePath + files.providerScript.path,
  }
}

/** What comes before our paths where the installation is not at the root of its address; otherwise empty. */
export function basePathOf(hostedUrl: string): string {
  return new URL(hostedUrl).pathname.replace(/\/$/, '')
}

function fileOf(name: string, type: string): StaticFile {
  const text = readFileSync(new URL(`../../public/${name}`, import.meta.url), 'utf8')
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 16)
  return { path: `/customer/files/${digest}/${name}`, type, content: compressed(text) }
}
