import { readFile } from 'node:fs/promises'
import { writeFileDurably } from './write-file.ts'

/** Access data of a new installation. Written once, after the demo provider is complete. */
export type Credentials = {
  readonly baseUrl: string
  readonly sandboxKey: string
  readonly liveKey: string
  readonly productRef: string
}

export async function readCredentials(path: string): Promise<Credentials | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Credentials
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

export async function writeCredentials(path: string, credentials: Credentials): Promise<void> {
  await writeFileDurably(path, `${JSON.stringify(credentials, null, 2)}\n`, 0o600)
}
