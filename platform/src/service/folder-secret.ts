import { randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { link, mkdir, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { embeddedFolder } from '../config/data-dir.ts'

/**
 * Secret by which the services of one data folder recognize each other: 256 bits in a file that only their user can read. The
 * first service creates it. Whoever can read it could also write to the embedded parts beside it.
 */
export async function readFolderSecret(dataDir: string): Promise<string> {
  const folder = embeddedFolder(dataDir, '')
  const path = join(folder, 'service-secret')
  return (await readIfThere(path)) ?? (await make(folder, path))
}

/** Compares in constant time. */
export function isSecret(secret: string, given: string): boolean {
  const [expected, other] = [Buffer.from(secret), Buffer.from(given)]
  return expected.length === other.length && timingSafeEqual(expected, other)
}

/** Writes a temporary file and links it when it is complete. Of several services that create it at once, one succeeds. */
async function make(folder: string, path: string): Promise<string> {
  await mkdir(folder, { recursive: true })
  const draft = join(folder, `service-secret.${randomUUID()}`)
  const file = await open(draft, 'wx', 0o600)
  try {
    await file.writeFile(randomBytes(32).toString('base64url'))
    await file.sync()
  } finally {
    await file.close()
  }
  try {
    await link(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await rm(draft)
  }
  return (await readFile(path, 'utf8')).trim()
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
