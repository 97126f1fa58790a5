import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DataFolderError, openEnvironment } from '../src/lmdb/environment.ts'

test('refuses an environment that another release has written', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-format-'))
  const open = (formatVersion: number, access: 'read' | 'write') =>
    openEnvironment({
      folder,
      content: 'hot state',
      formatVersion,
      access,
      createdWithinMs: 1_000,
    })
  await (await open(2, 'write')).close()
  for (const access of ['write', 'read'] as const) {
    for (const [own, release] of [
      [1, 'a newer'],
      [3, 'an older'],
    ] as const) {
      const opened = open(own, access)
      await expect(opened).rejects.toThrow(DataFolderError)
      await expect(opened).rejects.toThrow(
        `The hot state in ${folder} was written by ${release} release (format 2, this release reads ${own}).`,
      )
    }
  }
  await rm(folder, { recursive: true })
})
