import { expect, test, vi } from 'vitest'
import { Interruptions } from './interruptions.ts'
import { NotReadyError } from './launch-service.ts'
import { supervise, type Part, type RunningPart } from './supervise.ts'

type Controlled = RunningPart & { crash(cause: string): void; isStopped(): boolean }

function controlledPart(launches: Controlled[], failures: number): Part {
  let left = failures
  return {
    name: 'part',
    logPath: '/log',
    launch: async () => {
      if (launches.length > 0 && left-- > 0) throw new Error('not yet')
      let endWith: (cause: string) => void = () => undefined
      let isStopped = false
      const ended = new Promise<string>((resolve) => (endWith = resolve))
      const launched: Controlled = {
        pid: 1_000 + launches.length,
        notice: 'It is slow here.',
        ended,
        stop: async () => {
          isStopped = true
          endWith('SIGTERM')
        },
        crash: endWith,
        isStopped: () => isStopped,
      }
      launches.push(launched)
      return launched
    },
  }
}

test('reports the notice of the first launch, and relaunches and reports a part that ended', async () => {
  const launches: Controlled[] = []
  const lines: string[] = []
  const pids: (number | undefined)[] = []
  const part = supervise(
    controlledPart(launches, 2),
    (line) => lines.push(line),
    async (_, pid) => void pids.push(pid),
  )
  await part.start()
  launches[0]?.crash('SIGKILL')
  await vi.waitFor(() => expect(launches).toHaveLength(2), { timeout: 5_000 })
  await vi.waitFor(() => expect(pids).toEqual([1_000, 1_001]))
  expect(lines.slice(0, 2)).toEqual([
    'It is slow here.',
    'part ended (SIGKILL); starting it again. Log: /log',
  ])
  expect(lines.slice(2).join()).not.toContain('It is slow here.')
  expect(lines[2]).toContain('not yet')
  expect(lines.at(-1)).toBe('part runs again')
  await part.stop()
  expect(launches[1]?.isStopped()).toBe(true)
})

test('does not relaunch a part that was stopped', async () => {
  const launches: Controlled[] = []
  const part = supervise(
    controlledPart(launches, 0),
    () => undefined,
    async () => undefined,
  )
  await part.start()
  await part.stop()
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(launches).toHaveLength(1)
})

test('leaves nothing running after a stop during a relaunch', async () => {
  const launches: Controlled[] = []
  const part = supervise(
    controlledPart(launches, 0),
    () => undefined,
    async () => undefined,
  )
  await part.start()
  launches[0]?.crash('SIGKILL')
  await part.stop()
  expect(launches.slice(1).every((launched) => launched.isStopped())).toBe(true)
})

test('rejects with the reason of a failed first launch', async () => {
  const part = supervise(
    { name: 'part', logPath: '/log', launch: () => Promise.reject(new Error('no room')) },
    () => undefined,
    async () => undefined,
  )
  await expect(part.start()).rejects.toThrow('no room')
  await part.stop()
})

test('relaunches a part that is killed before it is ready', async () => {
  let launches = 0
  const running = {
    pid: 1,
    ended: new Promise<string>(() => undefined),
    stop: async () => undefined,
  }
  const launch = async (): Promise<RunningPart> => {
    launches += 1
    if (launches < 3) throw new NotReadyError('it was killed', true)
    return running
  }
  const part = supervise(
    { name: 'part', logPath: '/log', launch },
    () => undefined,
    async () => undefined,
  )
  await part.start()
  expect(launches).toBe(3)
  await part.stop()
})

test('relaunches a part that fails after another part was killed', async () => {
  const interruptions = new Interruptions()
  const needed: Controlled[] = []
  const other = supervise(
    controlledPart(needed, 0),
    () => undefined,
    async () => undefined,
    interruptions,
  )
  await other.start()
  let launches = 0
  const launch = async (): Promise<RunningPart> => {
    launches += 1
    if (launches > 1)
      return { pid: 1, ended: new Promise(() => undefined), stop: async () => undefined }
    needed[0]?.crash('SIGKILL')
    throw new NotReadyError('the store does not answer', false)
  }
  const part = supervise(
    { name: 'part', logPath: '/log', launch },
    () => undefined,
    async () => undefined,
    interruptions,
  )
  await part.start()
  expect(launches).toBe(2)
  await Promise.all([part.stop(), other.stop()])
})
