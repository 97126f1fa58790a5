/*
 * Notes which patches the installed packages have. A patch cannot be applied over an earlier version of itself, so packages with
 * other patches are installed anew. npm runs this file after it has applied the patches.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const note = join(root, 'node_modules/.tollgate-patches')

export function hasCurrentPatches() {
  return existsSync(note) && readFileSync(note, 'utf8') === digestOfPatches()
}

function digestOfPatches() {
  const folder = join(root, 'patches')
  const digest = createHash('sha256')
  for (const name of readdirSync(folder).sort()) {
    if (name.endsWith('.patch')) digest.update(name).update(readFileSync(join(folder, name)))
  }
  return digest.digest('hex')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(note, digestOfPatches())
