import { randomBytes } from 'node:crypto'
import { link, mkdir, open, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { formatSecretKey, parseSecretKeys, secretKeyBytes, type SecretKeys } from './secret-keys.ts'

/** Returns the path of the key file of an embedded installation. It has one key per line, the newest first. */
export function secretKeyFile(dataDir: string): string {
  return join(dataDir, 'secret-keys')
}

/**
 * Reads the keys of the file, and creates it with one new key if it does not exist. If several processes create it at once, one
 * succeeds and the others read its file. The file appears complete or not at all.
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
  // An empty file is never replaced by a new key: secrets that were encrypted with the lost key would stay unreadable without any
  // error.
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
