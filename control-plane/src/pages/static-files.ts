import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { ApiServer } from '../access/api-server.ts'
import { compressed, sendCompressed, type Compressed } from './compressed.ts'

/** Address of each static file. The address contains a digest of the file. */
export type StaticFiles = {
  readonly stylesheet: string
  readonly script: string
  /** Script for Stripe's element. */
  readonly payment: string
  /** Stylesheet of the documentation, loaded after the common one. */
  readonly docsStylesheet: string
  /** Script that adds the buttons to copy code. */
  readonly copyScript: string
  /** Icon of the browser tab for providers without their own. */
  readonly icon: string
  /** Stylesheet of the pages for providers, loaded after the common one. */
  readonly providerStylesheet: string
  readonly providerScript: string
}

type StaticFile = { readonly path: string; readonly type: string; readonly content: Compressed }

/** The address changes with the file, so browsers may cache it for a year. */
const cacheControl = 'public, max-age=31536000, immutable'

const types = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}

const files = {
  stylesheet: loadStaticFile('pages.css', types.css),
  script: loadStaticFile('pages.js', types.js),
  payment: loadStaticFile('payment.js', types.js),
  docsStylesheet: loadStaticFile('docs.css', types.css),
  copyScript: loadStaticFile('copy.js', types.js),
  icon: loadStaticFile('icon.svg', types.svg),
  providerStylesheet: loadStaticFile('provider.css', types.css),
  providerScript: loadStaticFile('provider.js', types.js),
}

/** Serves the static files of the pages. */
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

/** Returns the path before all paths of this service. It is empty if the installation is at the root of its address. */
export function basePathOf(hostedUrl: string): string {
  return new URL(hostedUrl).pathname.replace(/\/$/, '')
}

function loadStaticFile(name: string, type: string): StaticFile {
  const text = readFileSync(new URL(`../../public/${name}`, import.meta.url), 'utf8')
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 16)
  return { path: `/customer/files/${digest}/${name}`, type, content: compressed(text) }
}
