import { execFileSync } from 'node:child_process'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { open } from 'lmdb'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { EventLogUnavailableError } from '../src/event-log/event-log.ts'
import { openLmdbEventLog, type LmdbEventLogOptions } from '../src/event-log/lmdb/lmdb-event-log.ts'
import { openLmdbHotState } from '../src/hot-state/lmdb/lmdb-hot-state.ts'
import { DataFolderError } from '../src/lmdb/environment.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'event-log-limits-'))
})
afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

function options(more: Partial<LmdbEventLogOptions> = {}): LmdbEventLogOptions {
  return {
    logFolder: join(folder, 'log'),
    groupsFolder: join(folder, 'groups'),
    role: 'writer',
    topics: { t: 2 },
    ...more,
  }
}

const kibibyte = Buffer.alloc(1024)

it('refuses at once what would exceed the pending limit, and takes it later', async () => {
  const log = await openLmdbEventLog(options({ pendingBytesMax: 10_000 }))
  const appends = Array.from({ length: 20 }, () => log.append('t', 0, kibibyte, 1))
  const outcomes = await Promise.allSettled(appends)
  const refused = outcomes.filter(({ status }) => status === 'rejected')
  expect(refused.length).toBe(11)
  for (const { reason } of refused as PromiseRejectedResult[]) {
    expect(reason).toBeInstanceOf(EventLogUnavailableError)
  }
  expect(await log.head('t', 0)).toBe(9)
  expect(await log.append('t', 0, kibibyte, 1)).toBe(9)
  const pair = [0, 1].map((partition) => ({ partition, value: Buffer.alloc(6000) }))
  await expect(log.appendAll('t', pair, 1)).rejects.toThrow(EventLogUnavailableError)
  expect(await log.head('t', 1)).toBe(0)
  await log.close()
})

it.skipIf(process.platform !== 'linux')(
  'keeps nothing of a commit that the disk has no room for, and goes on when there is room',
  () => {
    const script = fileURLToPath(new URL('event-log-fill-the-disk.ts', import.meta.url))
    const node = [process.execPath, '--conditions=source', '--import', 'tsx', script]
    // A limit on file sizes makes writes fail as a full disk does, without one.
    const limited = `trap '' XFSZ; ulimit -S -f 4096; exec "$@"`
    const parameters = ['-c', limited, 'sh', ...node, join(folder, 'log'), join(folder, 'groups')]
    const output = execFileSync('sh', parameters, { stdio: ['ignore', 'pipe', 'ignore'] })
    const { full, afterRoom } = JSON.parse(output.toString()) as {
      full: { refused: number; names: string[]; grownBy: number; checked: string; head: number }
      afterRoom: { offset: number }
    }
    expect(full).toMatchObject({ refused: 50, names: ['EventLogUnavailableError'], grownBy: 0 })
    expect(full.checked).toBe('EventLogUnavailableError')
    expect(full.head).toBeGreaterThan(0)
    expect(afterRoom.offset).toBe(full.head)
  },
)

it('uses the room of trimmed batches again', async () => {
  const log = await openLmdbEventLog(options())
  const sizes: number[] = []
  for (let round = 0; round < 60; round += 1) {
    await Promise.all(Array.from({ length: 500 }, () => log.append('t', 0, kibibyte, 1)))
    await log.trim('t', 0, Infinity, [])
    sizes.push((await stat(join(folder, 'log', 'data.mdb'))).size)
  }
  expect(sizes.at(-1)).toBeLessThanOrEqual(sizes[9]! * 2)
  await log.close()
})

it('refuses a second writer while the first one lives', async () => {
  const log = await openLmdbEventLog(options())
  await expect(openLmdbEventLog(options())).rejects.toThrow(/Another process writes/)
  expect(await log.append('t', 0, kibibyte, 1)).toBe(0)
  await log.close()
  const next = await openLmdbEventLog(options())
  expect(await next.append('t', 0, kibibyte, 1)).toBe(1)
  await next.close()
  expect((await readdir(join(folder, 'log'))).filter((name) => name.endsWith('.sock'))).toEqual([])
})

it('lets one of two writers win that start together', async () => {
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => openLmdbEventLog(options())))
  const winners = outcomes.filter((outcome) => outcome.status === 'fulfilled')
  expect(winners.length).toBe(1)
  for (const { value } of winners) await value.close()
})

it('refuses another partition count for a topic that exists', async () => {
  await (await openLmdbEventLog(options())).close()
  const changed = openLmdbEventLog(options({ topics: { t: 3 } }))
  await expect(changed).rejects.toThrow('Topic t has 2 partitions, which cannot become 3.')
  const grown = await openLmdbEventLog(options({ topics: { t: 2, u: 7 } }))
  expect(grown.partitionCount('u')).toBe(7)
  await grown.close()
})

it('refuses folders that a newer release has written', async () => {
  await (await openLmdbEventLog(options())).close()
  await (await openLmdbHotState({ folder: join(folder, 'hot'), role: 'publisher' })).close()
  for (const name of ['log', 'hot']) {
    const path = join(folder, name)
    const store = open<Buffer, Buffer>({
      path,
      noSubdir: false,
      encoding: 'binary',
      keyEncoding: 'binary',
      overlappingSync: name === 'hot',
    })
    await store.put(Buffer.from('\0format'), Buffer.from('2'))
    await store.close()
  }
  await expect(openLmdbEventLog(options())).rejects.toThrow(/newer release \(format 2/)
  await expect(openLmdbEventLog(options({ role: 'reader' }))).rejects.toThrow(DataFolderError)
  const hot = openLmdbHotState({ folder: join(folder, 'hot'), role: 'reader' })
  await expect(hot).rejects.toThrow(/The hot state in .* was written by a newer release/)
})

it('tells a reader that there is no log, and waits for one that comes', async () => {
  const reader = options({ role: 'reader', createdWithinMs: 50 })
  await expect(openLmdbEventLog(reader)).rejects.toThrow(/There is no event log in/)
  const early = openLmdbEventLog(options({ role: 'reader' }))
  const log = await openLmdbEventLog(options())
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
  const log = await openLmdbEventLog(options())
  const reader = await openLmdbEventLog(options({ role: 'reader' }))
  await expect(openLmdbEventLog(options())).rejects.toThrow(/Another process writes/)
  let appendedAt = Infinity
  setTimeout(() => {
    void log.append('t', 0, kibibyte, 1).then(() => (appendedAt = performance.now()))
  }, 200)
  while ((await reader.head('t', 0)) === 0) await reader.waitForAppend('t', 5_000)
  expect(performance.now() - Math.min(appendedAt, performance.now())).toBeLessThan(1_000)
  await reader.close()
  await log.close()
})
