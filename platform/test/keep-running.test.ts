import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { beforeEach, expect, test, vi } from 'vitest'
import { keepRunning } from '../src/testing/keep-running.ts'

const started: ChildProcess[] = []
let leftBehind: ChildProcess | undefined

beforeEach(() => {
  leftBehind = started.at(-1)
  started.length = 0
})

/** Processes that end as the script says, one after the other; the last script is that of all further ones. */
const startsOf =
  (...scripts: readonly string[]) =>
  (): ChildProcess => {
    const script = scripts[Math.min(started.length, scripts.length - 1)]!
    const child = spawn(process.execPath, ['-e', script], { stdio: 'ignore' })
    started.push(child)
    return child
  }

const works = 'setInterval(() => {}, 1000)'
const fails = 'process.exit(1)'

test('what fails is started again, and what is killed is not', async () => {
  const kept = keepRunning(startsOf(fails, works))
  await vi.waitFor(() => expect(started).toHaveLength(2), { timeout: 20_000 })
  await kept.kill()
  expect(started.map(({ signalCode }) => signalCode)).toEqual([null, 'SIGKILL'])
})

test('what comes to its end is not started again, and cannot be killed', async () => {
  const kept = keepRunning(startsOf(''))
  await once(started[0]!, 'exit')
  await expect(kept.kill()).rejects.toThrow('It ended by itself with code 0.')
  expect(started).toHaveLength(1)
})

test('what fails again and again is given up', async () => {
  const kept = keepRunning(startsOf(fails))
  await vi.waitFor(() => expect(started).toHaveLength(4), { timeout: 20_000 })
  await once(started[3]!, 'exit')
  await expect(kept.kill()).rejects.toThrow('It ended by itself with code 1.')
  expect(started).toHaveLength(4)
})

test('what a test leaves running', () => {
  keepRunning(startsOf(works))
  expect(started).toHaveLength(1)
})

test('is gone before the next one', () => {
  expect(leftBehind?.signalCode).toBe('SIGKILL')
})
