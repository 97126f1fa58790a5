import { chmod, mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createPrivateFiles, makePrivateFolder } from './private-files.ts'

let root: string

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'tollgate-private-'))
})
afterEach(() => rm(root, { recursive: true }))

async function modeOf(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8)
}

test('a new data folder is closed to others', async () => {
  const folder = join(root, 'data', 'new')
  await makePrivateFolder(folder)
  expect(await modeOf(folder)).toBe('700')
})

test('a folder that an older version made is closed, with every file in it', async () => {
  const folder = join(root, 'data')
  await mkdir(join(folder, 'log', 'live'), { recursive: true, mode: 0o755 })
  const outside = join(root, 'outside')
  await writeFile(outside, '')
  await symlink(outside, join(folder, 'link'))
  for (const [name, mode] of [
    ['credentials.json', 0o644],
    ['log/live/segment', 0o664],
    ['log/program', 0o755],
    ['log/secret', 0o600],
  ] as const) {
    await writeFile(join(folder, name), '')
    await chmod(join(folder, name), mode)
  }
  for (const each of [folder, join(folder, 'log'), join(folder, 'log', 'live'), outside]) {
    await chmod(each, 0o755)
  }
  await makePrivateFolder(folder)
  const modes = ['', 'log', 'log/live', 'log/live/segment', 'credentials.json', 'log/program']
  expect(await Promise.all(modes.map((name) => modeOf(join(folder, name))))).toEqual([
    ...['700', '700', '700', '600', '600', '700'],
  ])
  expect(await modeOf(outside)).toBe('755')
})

test('others pass through a folder in which a part runs as another user, and see nothing in it', async () => {
  const folder = join(root, 'data')
  await mkdir(folder, { mode: 0o755 })
  await writeFile(join(folder, 'credentials.json'), '', { mode: 0o644 })
  await makePrivateFolder(folder, true)
  expect(await modeOf(folder)).toBe('711')
  expect(await modeOf(join(folder, 'credentials.json'))).toBe('600')
})

test('files are made for their user alone', async () => {
  const before = process.umask()
  try {
    createPrivateFiles()
    await writeFile(join(root, 'made'), '')
    await mkdir(join(root, 'folder'))
    expect([await modeOf(join(root, 'made')), await modeOf(join(root, 'folder'))]).toEqual([
      ...['600', '700'],
    ])
  } finally {
    process.umask(before)
  }
})
