import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { withRowsFile } from './rows-file.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-rows-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('a file of rows', () => {
  it('contains the rows of its own insert, and has no name that could remain', async () => {
    await Promise.all(
      Array.from({ length: 8 }, async (_, each) => {
        const rows = Buffer.alloc(300_000, each)
        await withRowsFile(folder, rows, async (path) => {
          expect(await readdir(folder)).toEqual([])
          expect((await readFile(path)).equals(rows)).toBe(true)
          // A second reader starts at the first byte too.
          expect(await readFile(path)).toHaveLength(300_000)
        })
      }),
    )
  })

  it('is removed when the insert fails', async () => {
    let opened = ''
    const failing = withRowsFile(folder, Buffer.from('x'), async (path) => {
      opened = path
      throw new Error('refused')
    })
    await expect(failing).rejects.toThrow('refused')
    expect(existsSync(opened)).toBe(false)
  })

  it('that cannot be written is a temporary error', async () => {
    const missing = withRowsFile(join(folder, 'missing'), Buffer.from('x'), async () => 'inserted')
    await expect(missing).rejects.toMatchObject({ code: 425, type: 'SYSTEM_ERROR' })
  })
})
