import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { preventServiceStarts, policy } from './debian-packages.ts'

describe('preventServiceStarts', () => {
  let file: string

  beforeEach(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-policy-'))
    file = join(folder, 'policy-rc.d')
    return () => rm(folder, { recursive: true })
  })

  it('creates an executable policy, and removes it afterwards', async () => {
    const end = await preventServiceStarts(file)
    expect(await readFile(file, 'utf8')).toContain('exit 101')
    expect((await stat(file)).mode & 0o111).toBe(0o111)
    await end()
    expect(existsSync(file)).toBe(false)
  })

  it('keeps an existing policy of the machine', async () => {
    await writeFile(file, '#!/bin/sh\nexit 0\n')
    const end = await preventServiceStarts(file)
    await end()
    expect(await readFile(file, 'utf8')).toBe('#!/bin/sh\nexit 0\n')
  })

  it('removes a policy that a killed installation left', async () => {
    await writeFile(file, policy)
    const end = await preventServiceStarts(file)
    await end()
    expect(existsSync(file)).toBe(false)
  })
})
