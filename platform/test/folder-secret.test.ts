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

it('is one for all who come at once, and stays', async () => {
  const dataDir = join(folder, 'data')
  const secrets = await Promise.all(Array.from({ length: 20 }, () => readFolderSecret(dataDir)))
  expect(new Set([...secrets, await readFolderSecret(dataDir)]).size).toBe(1)
  expect(secrets[0]).toMatch(/^[\w-]{43}$/)
  expect(await readdir(dataDir)).toEqual(['service-secret'])
})

it('can be read by its user alone, and is another one in another folder', async () => {
  const secret = await readFolderSecret(folder)
  expect((await stat(join(folder, 'service-secret'))).mode & 0o777).toBe(0o600)
  expect(await readFolderSecret(join(folder, 'other'))).not.toBe(secret)
})

it('is known by all of it', () => {
  expect(isSecret('abc', 'abc')).toBe(true)
  for (const other of ['abd', 'ab', 'abcd', '']) expect(isSecret('abc', other)).toBe(false)
})
