import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openLogFile } from './log-file.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-log-'))
})

afterEach(() => rm(folder, { recursive: true }))

test('keeps two files at most, none above the limit', async () => {
  const log = openLogFile(join(folder, 'service.log'), 1_000)
  for (let line = 0; line < 100; line++) log.write(Buffer.from(`line ${line}`.padEnd(99) + '\n'))
  log.close()
  expect(await readFile(join(folder, 'service.log'), 'utf8')).toContain('line 99')
  expect((await readdir(folder)).sort()).toEqual(['service.log', 'service.log.1'])
  for (const name of await readdir(folder)) {
    expect((await stat(join(folder, name))).size).toBeLessThanOrEqual(1_000)
  }
})

test('appends to the file of an earlier run', async () => {
  const path = join(folder, 'service.log')
  for (const word of ['first', 'second']) {
    const log = openLogFile(path, 1_000)
    log.write(Buffer.from(`${word}\n`))
    log.close()
  }
  expect(await readFile(path, 'utf8')).toBe('first\nsecond\n')
})

test('survives a folder that is not writable, and later reports the dropped bytes', async () => {
  const path = join(folder, 'missing', 'service.log')
  const log = openLogFile(path, 1_000)
  log.write(Buffer.from('lost\n'))
  expect(log.tail()).toBe('lost\n')
  await mkdir(join(folder, 'missing'))
  log.write(Buffer.from('kept\n'))
  log.close()
  expect(await readFile(path, 'utf8')).toBe('{"msg":"log dropped","bytes":5}\nkept\n')
})
