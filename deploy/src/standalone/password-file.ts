import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFileDurably } from './write-file.ts'

/** Returns the password in the given folder. It is created at the first start and only readable by its owner. */
export async function readOrCreatePassword(folder: string): Promise<string> {
  const file = passwordFile(folder)
  if (!existsSync(file)) {
    await mkdir(folder, { recursive: true })
    await writeFileDurably(file, `${randomBytes(24).toString('base64url')}\n`, 0o600)
  }
  return readFileSync(file, 'utf8').trim()
}

export function passwordFile(folder: string): string {
  return join(folder, 'password')
}
