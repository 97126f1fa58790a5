import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'

/** Returns the SHA-256 of each file below the folders, except the reader tables of LMDB. */
export async function digestFiles(
  root: string,
  folders: readonly string[],
): Promise<Record<string, string>> {
  const digests: Record<string, string> = {}
  for (const folder of folders) {
    const files = await readdir(join(root, folder), { recursive: true, withFileTypes: true })
    for (const file of files) {
      if (!file.isFile() || file.name === 'lock.mdb') continue
      const path = join(file.parentPath, file.name)
      const digest = createHash('sha256').update(await readFile(path))
      digests[relative(root, path)] = digest.digest('hex')
    }
  }
  return digests
}
