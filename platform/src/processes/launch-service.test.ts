import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { launchService, type LaunchedService } from './launch-service.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-launch-'))
})

afterEach(() => rm(folder, { recursive: true }))

async function launch(
  script: string,
  signal = new AbortController().signal,
): Promise<LaunchedService> {
  const entry = join(folder, 'service.mjs')
  await writeFile(entry, script)
  const environment = { WORD: 'hello' }
  const nodeOptions = ['--title=tollgate-launched']
  return launchService(
    { entry, parameters: ['--worker', '2'], nodeOptions, environment, endTimeoutMs: 5_000 },
    signal,
  )
}

test('passes parameters, options and environment, and returns the facts', async () => {
  const launched = await launch(`
    setInterval(() => {}, 1000)
    const { argv, execArgv, env } = process
    process.send({ ready: true, notice: 'It is slow here.', told: [argv.slice(2), execArgv, env.WORD] })`)
  expect(launched.facts['told']).toEqual([
    ['--worker', '2'],
    ['--title=tollgate-launched'],
    'hello',
  ])
  expect(launched.notice).toBe('It is slow here.')
  await launched.stop()
  expect(await launched.ended).toBe('SIGTERM')
})

test('rejects with the reason that the service gives', async () => {
  const refused = launch(`process.send({ problem: 'connect ECONNREFUSED 127.0.0.1:6379' })`)
  await expect(refused).rejects.toMatchObject({
    name: 'NotReadyError',
    message: 'connect ECONNREFUSED 127.0.0.1:6379',
    wasKilled: false,
  })
})

test('knows a process that was killed before it was ready', async () => {
  const killed = launch(`process.kill(process.pid, 'SIGKILL')`)
  await expect(killed).rejects.toMatchObject({ message: 'SIGKILL', wasKilled: true })
})

test('leaves no process behind if the launch is given up', async () => {
  const refused = launch('setInterval(() => {}, 1000)', AbortSignal.abort())
  await expect(refused).rejects.toMatchObject({ message: 'SIGKILL', wasKilled: false })
})
