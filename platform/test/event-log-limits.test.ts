import { execFileSync } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { EventLogUnavailableError } from '../src/event-log/event-log.ts'
import {
  openFileEventLog,
  type FileEventLogOptions,
} from '../src/event-log/files/file-event-log.ts'
import { readSegmentHeader } from '../src/event-log/files/segment-files.ts'
import { encodeSegmentHeader } from '../src/event-log/files/segment-header.ts'
import { DataFolderError } from '../src/lmdb/environment.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'event-log-limits-'))
})
afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

function options(more: Partial<FileEventLogOptions> = {}): FileEventLogOptions {
  return {
    logFolder: join(folder, 'log'),
    groupsFolder: join(folder, 'groups'),
    role: 'writer',
    topics: { t: 2 },
    ...more,
  }
}

function isSegment(name: string): boolean {
  return name.endsWith('.seg')
}

const kibibyte = Buffer.alloc(1024)

it('refuses appends above the pending limit at once, and accepts them later', async () => {
  const log = await openFileEventLog(options({ pendingBytesMax: 10_000 }))
  const appends = Array.from({ length: 20 }, () => log.append('t', 0, kibibyte, 1))
  const outcomes = await Promise.allSettled(appends)
  const refused = outcomes.filter(({ status }) => status === 'rejected')
  expect(refused.length).toBe(11)
  for (const { reason } of refused as PromiseRejectedResult[]) {
    expect(reason).toBeInstanceOf(EventLogUnavailableError)
  }
  expect(await log.head('t', 0)).toBe(9)
  await log.append('t', 0, kibibyte, 1)
  expect(await log.head('t', 0)).toBe(10)
  const pair = [0, 1].map((partition) => ({ partition, value: Buffer.alloc(6000) }))
  await expect(log.appendAll('t', pair, 1)).rejects.toThrow(EventLogUnavailableError)
  expect(await log.head('t', 1)).toBe(0)
  await log.close()
})

it.skipIf(process.platform !== 'linux')(
  'keeps nothing of a commit that does not fit on the disk, and continues when there is room',
  () => {
    const script = fileURLToPath(new URL('event-log-fill-the-disk.ts', import.meta.url))
    const node = [process.execPath, '--conditions=source', '--import', 'tsx', script]
    // A limit on file sizes makes writes fail as on a full disk.
    const limited = `trap '' XFSZ; ulimit -S -f 4096; exec "$@"`
    const parameters = ['-c', limited, 'sh', ...node, join(folder, 'log'), join(folder, 'groups')]
    const output = execFileSync('sh', parameters, { stdio: ['ignore', 'pipe', 'ignore'] })
    const { full, afterRoom } = JSON.parse(output.toString()) as {
      full: { refused: number; names: string[]; grownBy: number; checked: string; head: number }
      afterRoom: { head: number }
    }
    expect(full).toMatchObject({ refused: 50, names: ['EventLogUnavailableError'], grownBy: 0 })
    expect(full.checked).toBe('EventLogUnavailableError')
    expect(full.head).toBeGreaterThan(0)
    expect(afterRoom.head).toBe(full.head + 1)
  },
)

it('deletes segments once every partition allows it', async () => {
  const log = await openFileEventLog(options({ segmentBytesMax: 16 * 1024 }))
  const segments = async () => (await readdir(join(folder, 'log'))).filter(isSegment).length
  for (let round = 0; round < 5; round += 1) {
    for (let n = 0; n < 20; n += 1) {
      const pair = [0, 1].map((partition) => ({ partition, value: kibibyte }))
      await log.appendAll('t', pair, 1)
    }
    const before = await segments()
    expect(before).toBeGreaterThan(2)
    await log.trim('t', 0, Infinity, [])
    expect(await segments()).toBe(before)
    await log.trim('t', 1, Infinity, [])
    expect(await segments()).toBe(1)
  }
  expect(await log.oldest('t', 0)).toBe(await log.oldest('t', 1))
  await log.close()
})

it('refuses a second writer while the first one is running', async () => {
  const log = await openFileEventLog(options())
  await expect(openFileEventLog(options())).rejects.toThrow(/Another process writes/)
  await log.append('t', 0, kibibyte, 1)
  await log.close()
  const next = await openFileEventLog(options())
  await next.append('t', 0, kibibyte, 1)
  expect(await next.head('t', 0)).toBe(2)
  await next.close()
  expect((await readdir(join(folder, 'log'))).filter((name) => name.endsWith('.sock'))).toEqual([])
})

it('accepts one of two writers that start together', async () => {
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => openFileEventLog(options())))
  const winners = outcomes.filter((outcome) => outcome.status === 'fulfilled')
  expect(winners.length).toBe(1)
  for (const { value } of winners) await value.close()
})

it('refuses another number of partitions for an existing topic', async () => {
  await (await openFileEventLog(options())).close()
  const changed = openFileEventLog(options({ topics: { t: 3 } }))
  await expect(changed).rejects.toThrow('Topic t has 2 partitions, which cannot become 3.')
  const grown = await openFileEventLog(options({ topics: { t: 2, u: 7 } }))
  expect(grown.partitionCount('u')).toBe(7)
  await grown.close()
})

it('refuses folders that a newer or older release has written', async () => {
  await (await openFileEventLog(options())).close()
  const [segment] = (await readdir(join(folder, 'log'))).filter(isSegment)
  const path = join(folder, 'log', segment!)
  const header = readSegmentHeader(join(folder, 'log'), 1)
  await writeFile(path, encodeSegmentHeader(header, 3))
  for (const role of ['writer', 'reader'] as const) {
    const opened = openFileEventLog(options({ role }))
    await expect(opened).rejects.toThrow(/newer release \(format 3, this release reads up to 2\)/)
    await expect(opened).rejects.toThrow(DataFolderError)
  }
  await writeFile(join(folder, 'log', 'data.mdb'), '')
  for (const role of ['writer', 'reader'] as const) {
    const opened = openFileEventLog(options({ role }))
    await expect(opened).rejects.toThrow(/The event log in .* was written by an older release/)
  }
})

it('rejects a reader without a log, and waits for one that is created later', async () => {
  const reader = options({ role: 'reader', createdWithinMs: 50 })
  await expect(openFileEventLog(reader)).rejects.toThrow(/There is no event log in/)
  const early = openFileEventLog(options({ role: 'reader' }))
  const log = await openFileEventLog(options())
  await log.append('t', 0, kibibyte, 1)
  const opened = await early
  expect(await opened.head('t', 0)).toBe(1)
  await expect(opened.append('t', 0, kibibyte, 1)).rejects.toThrow(EventLogUnavailableError)
  await expect(opened.checkWritable()).rejects.toThrow(EventLogUnavailableError)
  await opened.close()
  await log.close()
})

it('works in a folder whose path is too long for a socket', async () => {
  folder = join(folder, 'long'.repeat(20), 'longer'.repeat(20))
  const log = await openFileEventLog(options())
  const reader = await openFileEventLog(options({ role: 'reader' }))
  await expect(openFileEventLog(options())).rejects.toThrow(/Another process writes/)
  let appendedAt = Infinity
  setTimeout(() => {
    void log.append('t', 0, kibibyte, 1).then(() => (appendedAt = performance.now()))
  }, 200)
  while ((await reader.head('t', 0)) === 0) await reader.waitForAppend('t', 60_000)
  expect(performance.now() - Math.min(appendedAt, performance.now())).toBeLessThan(10_000)
  await reader.close()
  await log.close()
})
