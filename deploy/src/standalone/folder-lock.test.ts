import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { lockFolder } from './folder-lock.ts'
import { StartRefusedError } from './start-refused.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-lock-'))
})

afterEach(() => rm(folder, { recursive: true }))

test('refuses a folder that is locked, and names the process that holds it', async () => {
  const lock = await lockFolder(folder)
  const second = lockFolder(folder)
  await expect(second).rejects.toBeInstanceOf(StartRefusedError)
  await expect(second).rejects.toThrow(`already runs on ${folder} (process ${process.pid})`)
  await lock.release()
  const again = await lockFolder(folder)
  await again.release()
})

test('lets exactly one of many processes lock the folder', async () => {
  const attempts = await Promise.allSettled(Array.from({ length: 20 }, () => lockFolder(folder)))
  const won = attempts.filter((attempt) => attempt.status === 'fulfilled')
  expect(won).toHaveLength(1)
  await won[0]?.value.release()
})

test('can be locked again after its holder was killed', async () => {
  const source = fileURLToPath(new URL('folder-lock.ts', import.meta.url))
  const script = `
    const { lockFolder } = await import(${JSON.stringify(source)})
    await lockFolder(${JSON.stringify(folder)})
    setInterval(() => {}, 1000)
    process.send('locked')`
  const holder = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  await once(holder, 'message')
  await expect(lockFolder(folder)).rejects.toThrow(`process ${holder.pid}`)
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  const lock = await lockFolder(folder)
  await lock.release()
})
