import { randomBytes } from 'node:crypto'
import { link, mkdir, open, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { formatSecretKey, parseSecretKeys, secretKeyBytes, type SecretKeys } from './secret-keys.ts'

/** Where an embedded installation keeps its keys, one in a line, the newest first. */
export function secretKeyFile(dataDir: string): string {
  return join(dataDir, 'secret-keys')
}

/**
 * The keys of the file, which is made with one key where there is none. Of several processes that make it at once, one
 * succeeds and the others read what it wrote: a whole file gets its name, or none does.
 */
export async function readOrMakeKeyFile(path: string): Promise<SecretKeys> {
  const found = await readKeyFile(path)
  if (found !== undefined) return found
  await makeKeyFile(path)
  const made = await readKeyFile(path)
  if (made === undefined) throw new Error(`${path} went away as soon as it was made`)
  return made
}

async function readKeyFile(path: string): Promise<SecretKeys | undefined> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
  const keys = parseSecretKeys(text)
  // Never made anew: what was sealed with the lost key would stay shut, and nobody would be told.
  if (keys === undefined) throw new Error(`${path} is empty: restore it from a backup`)
  return keys
}

async function makeKeyFile(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  const draft = `${path}.${randomBytes(6).toString('hex')}.new`
  const file = await open(draft, 'wx', 0o600)
  try {
    const id = `k${randomBytes(4).toString('hex')}`
    await file.writeFile(`${formatSecretKey({ id, bytes: randomBytes(secretKeyBytes) })}\n`)
    await file.sync()
    await link(draft, path)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    await file.close()
    await rm(draft, { force: true })
  }
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown }).code
}
