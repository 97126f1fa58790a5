import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { checkFormat, dataFolderAt, dataFormat, type DataFolder } from './data-folder.ts'
import { StartRefusedError } from './start-refused.ts'

let folder: DataFolder

beforeEach(async () => {
  folder = dataFolderAt(await mkdtemp(join(tmpdir(), 'tollgate-format-')))
})

afterEach(() => rm(folder.root, { recursive: true }))

test('writes its format into a new folder and accepts it afterwards', async () => {
  await checkFormat(folder)
  expect(JSON.parse(await readFile(folder.formatFile, 'utf8'))).toEqual({ format: dataFormat })
  await checkFormat(folder)
})

test.each([
  ['a newer format', `{"format":${dataFormat + 1}}`, 'newer Tollgate'],
  ['a file that is no JSON', 'x', 'not readable'],
  ['a file without a number', '{"format":"1"}', 'not readable'],
])('refuses %s in one line and does not change it', async (_, content, words) => {
  await writeFile(folder.formatFile, content)
  const check = checkFormat(folder)
  await expect(check).rejects.toBeInstanceOf(StartRefusedError)
  await expect(check).rejects.toThrow(words)
  expect(await readFile(folder.formatFile, 'utf8')).toBe(content)
})
