import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { keepServicesFromStarting, policy } from './debian-packages.ts'

describe('the policy that keeps the services of installed packages from starting', () => {
  let file: string

  beforeEach(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-policy-'))
    file = join(folder, 'policy-rc.d')
    return () => rm(folder, { recursive: true })
  })

  it('is a program while packages are installed, and gone afterwards', async () => {
    const end = await keepServicesFromStarting(file)
    expect(await readFile(file, 'utf8')).toContain('exit 101')
    expect((await stat(file)).mode & 0o111).toBe(0o111)
    await end()
    expect(existsSync(file)).toBe(false)
  })

  it('leaves the policy of the machine as it is', async () => {
    await writeFile(file, '#!/bin/sh\nexit 0\n')
    const end = await keepServicesFromStarting(file)
    await end()
    expect(await readFile(file, 'utf8')).toBe('#!/bin/sh\nexit 0\n')
  })

  it('removes what an install that was killed left behind', async () => {
    await writeFile(file, policy)
    const end = await keepServicesFromStarting(file)
    await end()
    expect(existsSync(file)).toBe(false)
  })
})
