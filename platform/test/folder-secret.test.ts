import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isSecret, readFolderSecret } from '@tollgate/platform/service/folder-secret'
import { afterEach, beforeEach, expect, it } from 'vitest'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-secret-'))
})
afterEach(() => rm(folder, { recursive: true }))

it('is the same for concurrent callers, and does not change', async () => {
  const dataDir = join(folder, 'data')
  const secrets = await Promise.all(Array.from({ length: 20 }, () => readFolderSecret(dataDir)))
  expect(new Set([...secrets, await readFolderSecret(dataDir)]).size).toBe(1)
  expect(secrets[0]).toMatch(/^[\w-]{43}$/)
  expect(await readdir(dataDir)).toEqual(['service-secret'])
})

it('is readable by its user only, and differs between folders', async () => {
  const secret = await readFolderSecret(folder)
  expect((await stat(join(folder, 'service-secret'))).mode & 0o777).toBe(0o600)
  expect(await readFolderSecret(join(folder, 'other'))).not.toBe(secret)
})

it('is compared as a whole', () => {
  expect(isSecret('abc', 'abc')).toBe(true)
  for (const other of ['abd', 'ab', 'abcd', '']) expect(isSecret('abc', other)).toBe(false)
})
