import { readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { compressed, type Compressed } from '../compressed.ts'

/** The built console: the page that starts it, and the files that the page loads. */
export type ConsoleApp = {
  readonly page: string
  /** Files by name. A name contains a digest of its file. */
  readonly files: ReadonlyMap<string, ConsoleFile>
}

export type ConsoleFile = { readonly type: string; readonly content: Compressed }

const folder = new URL('../../../../console/dist/', import.meta.url)

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

let loaded: ConsoleApp | undefined

/** Returns the built console. It is read once. Returns undefined if the console is not built. */
export function readConsoleApp(): ConsoleApp | undefined {
  return (loaded ??= loadConsoleApp())
}

function loadConsoleApp(): ConsoleApp | undefined {
  try {
    const page = readFileSync(new URL('index.html', folder), 'utf8')
    const names = readdirSync(new URL('assets/', folder)).filter((name) => extname(name) in types)
    return { page, files: new Map(names.map((name) => [name, loadFile(name)])) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function loadFile(name: string): ConsoleFile {
  const text = readFileSync(new URL(`assets/${name}`, folder), 'utf8')
  return { type: types[extname(name)]!, content: compressed(text) }
}

/**
 * Returns the page for one response. The build names files relative to the page, which is served at many paths, so the page gets
 * their complete paths. The library that draws the console adds style elements, which the page's policy allows by the nonce.
 */
export function consolePageOf({ page }: ConsoleApp, filesPath: string, nonce: string): string {
  return page.replaceAll('"./assets/', `"${filesPath}/`).replaceAll('{nonce}', nonce)
}
