import { afterEach, beforeEach, expect, it } from 'vitest'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AcknowledgedHeads } from '../src/event-log/acknowledged-heads.ts'
import { EventLogUnavailableError, type EventLog } from '../src/event-log/event-log.ts'
import { openFileEventLog } from '../src/event-log/files/file-event-log.ts'
import { withAcknowledgedHeads } from '../src/event-log/with-acknowledged-heads.ts'

const value = Buffer.from('a')

let folder: string
let log: EventLog
/** Acknowledged heads that two processes share, separate from the log. */
let shared: Map<string, number>
let isNoting: boolean

const heads: AcknowledgedHeads = {
  note: async (topic, heads) => {
    if (!isNoting) throw new Error('away')
    for (const [partition, head] of heads) shared.set(`${topic}/${partition}`, head)
  },
  read: async (topic, partition) => shared.get(`${topic}/${partition}`),
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-heads-'))
  log = await openFileEventLog({
    logFolder: join(folder, 'log'),
    groupsFolder: join(folder, 'groups'),
    role: 'writer',
    topics: { usage: 3 },
  })
  shared = new Map()
  isNoting = true
})

afterEach(async () => {
  await log.close()
  await rm(folder, { recursive: true, force: true })
})

/** Returns the log of a process that gets no answers and last knew this head. */
function silent(lastKnownHead: number | undefined): EventLog {
  const away = async (): Promise<never> => {
    throw new EventLogUnavailableError('no answer')
  }
  return new Proxy(log, {
    get: (target, name) => {
      if (name === 'head') return away
      if (name === 'lastKnownHead') return () => lastKnownHead
      return Reflect.get(target, name) as unknown
    },
  })
}

it('returns the head that another process acknowledged while the log does not answer', async () => {
  const writer = withAcknowledgedHeads(log, heads)
  await writer.append('usage', 1, value, 1)
  const here = withAcknowledgedHeads(silent(0), heads)
  expect(await here.head('usage', 1)).toBe(1)
  await writer.appendAll(
    'usage',
    [
      { partition: 1, value },
      { partition: 2, value },
    ],
    2,
  )
  expect(await here.head('usage', 1)).toBe(2)
  expect(await here.head('usage', 2)).toBe(1)
})

it('records the head before an append resolves, once for all appends of a commit', async () => {
  const noted: Record<number, number>[] = []
  const slow: AcknowledgedHeads = {
    ...heads,
    note: async (_topic, heads) => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      noted.push(Object.fromEntries(heads))
    },
  }
  const writer = withAcknowledgedHeads(log, slow)
  const several = [0, 1, 2].map((partition) => ({ partition, value }))
  await Promise.all([
    ...Array.from({ length: 50 }, (_, n) => writer.append('usage', n % 3, value, 1)),
    ...Array.from({ length: 50 }, () => writer.appendAll('usage', several, 1)),
  ])
  expect(noted.at(-1)).toEqual({ 0: 67, 1: 67, 2: 66 })
  expect(noted.length).toBeLessThan(10)
})

it('rejects if no head is known, and otherwise returns the largest known one', async () => {
  await expect(withAcknowledgedHeads(silent(7), heads).head('usage', 0)).rejects.toThrow(
    EventLogUnavailableError,
  )
  shared.set('usage/0', 5)
  expect(await withAcknowledgedHeads(silent(7), heads).head('usage', 0)).toBe(7)
  expect(await withAcknowledgedHeads(silent(3), heads).head('usage', 0)).toBe(5)
})

it('acknowledges an append even if its head cannot be recorded', async () => {
  isNoting = false
  const writer = withAcknowledgedHeads(log, heads)
  await writer.append('usage', 0, value, 1)
  expect(await writer.head('usage', 0)).toBe(1)
})
