/*
 * Runs a program that `deploy/bundle.mjs` has put into one file. Loading that file with what V8 has compiled before takes a third of
 * the processor time of loading 1,500 modules. The files of a program named `main.js`, in a folder `dist/bundled`:
 *
 *   main.js           starts the program with `await loadBundle(import.meta.url).main()`
 *   main.js.code      all modules, as the body of one function
 *   main.js.lines     for each line of the code, where it comes from (see `openLines`)
 *   main.js.sources   paths of the sources, relative to the repository
 *   main.js.v8-<version>  the compiled code. Another version of V8 does not find it and compiles the code itself.
 */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Script } from 'node:vm'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Bytes per line of the code in the file of lines: the number of its source, and its line there, both counted from 1. */
export const lineBytes = 8

export function compiledFile(program) {
  return `${program}.v8-${process.versions.v8}-${process.arch}`
}

/**
 * Evaluates all modules of the program whose file has this URL, except its main module. Returns the function that runs the main
 * module, and the script, whose compiled code can be stored.
 */
export function loadBundle(programUrl) {
  const program = fileURLToPath(programUrl)
  const codeFile = `${program}.code`
  const compiled = compiledFile(program)
  // Code that V8 refuses, because it runs with other options, is compiled as if nothing was stored.
  const cachedData = existsSync(compiled) ? readFileSync(compiled) : undefined
  const script = new Script(readFileSync(codeFile, 'latin1'), {
    filename: codeFile,
    cachedData,
  })
  traceToSources(program, codeFile)
  const urlOf = (path) => (path === undefined ? programUrl : pathToFileURL(join(root, path)).href)
  const pathOf = (path) => join(root, path)
  const module = { exports: {} }
  const importModule = (url) => import(url)
  const given = [createRequire(programUrl), module, module.exports, urlOf, pathOf, importModule]
  script.runInThisContext()(...given)
  return { main: module.exports.main, script }
}

/**
 * Lets stack traces name the sources. Nothing is read before the first trace is needed. Node's own source maps would be read at the
 * start, and they take longer than the program.
 */
function traceToSources(program, codeFile) {
  let lines
  const describe = (frame) => {
    const text = String(frame)
    if (frame.getFileName() !== codeFile) return text
    lines ??= openLines(program)
    const source = lines.find(frame.getLineNumber())
    if (source === undefined) return text
    const place = `${codeFile}:${frame.getLineNumber()}:${frame.getColumnNumber()}`
    return text.replace(place, source)
  }
  Error.prepareStackTrace = (error, frames) => {
    const head = headOf(error)
    return frames.length === 0
      ? head
      : `${head}\n${frames.map((frame) => `    at ${describe(frame)}`).join('\n')}`
  }
}

/** Returns the first line of a trace. An error may be any object, whose text may throw. */
function headOf(error) {
  try {
    return Error.prototype.toString.call(error)
  } catch {
    return '<error>'
  }
}

function openLines(program) {
  const sources = JSON.parse(readFileSync(`${program}.sources`, 'utf8'))
  const lines = readFileSync(`${program}.lines`)
  return {
    /** Returns the path and the line from which a line of the code comes, or undefined if it was added when the code was put together. */
    find: (line) => {
      const at = (line - 1) * lineBytes
      const source = at + lineBytes <= lines.length ? lines.readUInt32LE(at) : 0
      return source === 0
        ? undefined
        : `${join(root, sources[source - 1])}:${lines.readUInt32LE(at + 4)}`
    },
  }
}
