import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { policy, preventServiceStarts, whileLocked } from './debian-packages.ts'

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

describe('whileLocked', () => {
  let folder: string

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-lock-'))
    return () => rm(folder, { recursive: true })
  })

  it('runs one installation after the other', async () => {
    const file = join(folder, 'lock')
    const steps: string[] = []
    const install = async (name: string): Promise<void> => {
      steps.push(`${name} begins`)
      await sleep(50)
      steps.push(`${name} ends`)
    }
    await Promise.all(['a', 'b'].map((name) => whileLocked(file, () => install(name))))
    const [first, second] = steps[0] === 'a begins' ? ['a', 'b'] : ['b', 'a']
    expect(steps).toEqual([
      `${first} begins`,
      `${first} ends`,
      `${second} begins`,
      `${second} ends`,
    ])
  })

  it('runs nothing without the lock', async () => {
    let isRun = false
    const install = async (): Promise<void> => void (isRun = true)
    await expect(whileLocked(join(folder, 'missing', 'lock'), install)).rejects.toThrow(
      /could not be locked: .*No such file or directory/,
    )
    expect(isRun).toBe(false)
  })
})
