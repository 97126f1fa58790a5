import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { nodePart } from './node-part.ts'
import { findFreePort } from './ports.ts'
import type { LivenessWatch } from '@tollgate/platform/processes/watch-liveness'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-part-'))
})

afterEach(() => rm(folder, { recursive: true }))

async function partOf(
  script: string,
  liveness?: LivenessWatch,
): Promise<ReturnType<typeof nodePart>> {
  const entry = join(folder, 'service.mjs')
  await writeFile(entry, script)
  const environment = (): Record<string, string> => ({ WORD: 'hello' })
  const logPath = join(folder, 'service.log')
  return nodePart({ name: 'service', entry, environment, logPath, ...(liveness && { liveness }) })
}

test('is launched with its environment, logs to its file and ends when stopped', async () => {
  const part = await partOf(`
    console.log(process.env.WORD)
    process.on('SIGTERM', () => process.exit(0))
    setInterval(() => {}, 1000)
    process.send({ ready: true, notice: 'It is slow here.' })`)
  const running = await part.launch(new AbortController().signal)
  expect(running.notice).toBe('It is slow here.')
  expect(running.pid).toBeGreaterThan(0)
  await vi.waitFor(async () => expect(await readFile(part.logPath, 'utf8')).toBe('hello\n'))
  await running.stop()
  expect(await running.ended).toBe('exit code 0')
})

test('says why it could not start', async () => {
  const part = await partOf(`
    console.log(JSON.stringify({ level: 60, err: { message: 'the log is locked.' } }))
    process.exit(1)`)
  await expect(part.launch(new AbortController().signal)).rejects.toThrow(
    'service could not start: the log is locked.',
  )
})

test('ends when its supervisor is gone', async () => {
  const part = await partOf(`
    process.on('disconnect', () => process.exit(7))
    setInterval(() => {}, 1000)
    process.send({ ready: true })
    setTimeout(() => process.disconnect(), 50)`)
  const running = await part.launch(new AbortController().signal)
  expect(await running.ended).toBe('exit code 7')
})

test('leaves no process behind when a launch is aborted', async () => {
  const part = await partOf('setInterval(() => {}, 1000)')
  const giveUp = new AbortController()
  const launch = part.launch(giveUp.signal)
  setTimeout(() => giveUp.abort(), 100)
  await expect(launch).rejects.toThrow('service could not start: SIGKILL')
})

test('is killed when it hangs, but not while it answers', async () => {
  const port = await findFreePort(new Set())
  const part = await partOf(
    `
    import { createServer } from 'node:http'
    const hang = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
    const server = createServer((request, response) => {
      response.writeHead(request.url === '/health/live' ? 503 : 200).end()
      if (request.url === '/hang') setTimeout(hang, 10)
    })
    server.listen(${port}, '127.0.0.1', () => process.send({ ready: true }))`,
    { url: `http://127.0.0.1:${port}/health/live`, intervalMs: 50, silenceMaxMs: 500 },
  )
  const running = await part.launch(new AbortController().signal)
  const left = await Promise.race([running.ended, sleep(1_500, 'alive')])
  expect(left).toBe('alive')
  await fetch(`http://127.0.0.1:${port}/hang`)
  expect(await running.ended).toBe('SIGKILL')
  expect(await readFile(part.logPath, 'utf8')).toContain('has not answered for 500 ms')
})
