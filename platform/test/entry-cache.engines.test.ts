import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { HotState } from '../src/hot-state/hot-state.ts'
import { openRedisHotState } from '../src/hot-state/redis/redis-hot-state.ts'
import { freePort } from '../src/testing/free-ports.ts'
import { hasRedisServer, RedisServerProcess } from '../src/testing/redis-server.ts'
import { answered } from './answered.ts'

const settings = { appendonly: 'yes', appendfsync: 'always' }
const leaseMs = 400
const space = 'live'
const partition = 0

describe.skipIf(!hasRedisServer)('cached entries', () => {
  let folder: string
  let server: RedisServerProcess
  let writer: HotState
  let admin: Redis
  const open: HotState[] = []
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'entry-cache-'))
    server = await RedisServerProcess.start({ folder, port: await freePort(), settings })
    writer = await openRedisHotState({ servers: { url: server.url } })
    admin = new Redis(server.url)
    admin.on('error', () => undefined)
    open.push(writer)
  })
  afterEach(async () => {
    for (const each of open.splice(0)) await each.close()
    admin.disconnect()
    await server.kill()
    await rm(folder, { recursive: true, force: true })
  })

  async function openReader(charsMax = 100_000): Promise<HotState> {
    const entryCache = { charsMax, leaseMs, replicasMin: 1 }
    const reader = await openRedisHotState({ servers: { url: server.url }, entryCache })
    open.push(reader)
    return reader
  }

  function put(subject: string, version: number): Promise<void> {
    const entry = { subject, scope: '', version, document: `${version}`, windows: [] }
    return writer.putEntries(space, partition, [entry])
  }

  async function read(reader: HotState, subject: string): Promise<number> {
    const at = { space, partition, subject, scope: '' }
    return Number((await reader.cachedEntryDocument(at)) ?? 0)
  }

  async function readsTotal(): Promise<number> {
    const stats = await admin.info('commandstats')
    return Number(/^cmdstat_evalsha:calls=(\d+)/m.exec(stats)?.[1] ?? 0)
  }

  it('are read once, whether they exist or not, until they change', async () => {
    const reader = await openReader()
    await put('held', 1)
    await untilCached(reader, 'held')
    await read(reader, 'missing')
    const before = await readsTotal()
    for (let count = 0; count < 1_000; count += 1) {
      expect([await read(reader, 'held'), await read(reader, 'missing')]).toEqual([1, 0])
    }
    // Only renewals of the lease are calls.
    expect((await readsTotal()) - before).toBeLessThan(50)
    await put('missing', 1)
    await put('held', 2)
    expect([await read(reader, 'held'), await read(reader, 'missing')]).toEqual([2, 1])
    await writer.deleteEntry({ space, partition, subject: 'held', scope: '' })
    expect(await read(reader, 'held')).toBe(0)
  })

  async function untilCached(reader: HotState, subject: string): Promise<void> {
    const at = { space, partition, subject, scope: '' }
    await expect
      .poll(async () => {
        await read(reader, subject)
        return reader.cachedEntryDocument(at) instanceof Promise
      })
      .toBe(false)
  }

  it('are never older than a change that was made, whatever is disconnected or killed', async () => {
    const subjects = Array.from({ length: 20 }, (_, number) => `customer ${number}`)
    /** The last version of each subject whose change has ended. */
    const made = new Map(subjects.map((subject) => [subject, 0]))
    const readers = [await openReader(), await openReader(3_000), await openReader()]
    let isEnded = false
    let [cached, changes] = [0, 0]
    const readOn = async (place: number): Promise<void> => {
      while (!isEnded) {
        const reader = readers[place]!
        const subject = subjects[Math.floor(Math.random() * subjects.length)]!
        const least = made.get(subject)!
        const answer = reader.cachedEntryDocument({ space, partition, subject, scope: '' })
        if (!(answer instanceof Promise)) cached += 1
        const found = await Promise.resolve(answer).catch(() => 'unavailable')
        if (found !== 'unavailable') {
          expect(Number(found ?? 0), subject).toBeGreaterThanOrEqual(least)
        }
        if (Math.random() < 0.01) await sleep(1)
      }
    }
    const change = async (own: readonly string[]): Promise<void> => {
      const versions = new Map<string, number>()
      while (!isEnded) {
        const subject = own[Math.floor(Math.random() * own.length)]!
        const version = (versions.get(subject) ?? 0) + 1
        versions.set(subject, version)
        try {
          await put(subject, version)
          made.set(subject, version)
          changes += 1
        } catch {
          // Whether the change was made is unknown, so nothing is expected of it.
        }
        if (Math.random() < 0.2) await sleep(Math.random() * 5)
      }
    }
    const disturb = async (): Promise<void> => {
      for (let round = 0; round < 12; round += 1) {
        await sleep(150 + Math.random() * 300)
        const kind = round % 4
        if (kind === 0) await admin.client('KILL', 'TYPE', 'pubsub').catch(() => undefined)
        else if (kind === 1) await admin.client('KILL', 'TYPE', 'normal').catch(() => undefined)
        else if (kind === 2) {
          const replaced = readers[round % readers.length]!
          readers[round % readers.length] = await openReader()
          await replaced.close()
          open.splice(open.indexOf(replaced), 1)
        } else {
          await server.kill()
          server = await RedisServerProcess.start({ folder, port: server.port, settings })
          await answered(() => writer.ping())
        }
      }
      isEnded = true
    }
    const changing = [subjects.slice(0, 10), subjects.slice(10)].map(change)
    const reading = readers.map((_, place) => readOn(place))
    await Promise.all([disturb(), ...changing, ...reading]).finally(() => (isEnded = true))
    expect(cached).toBeGreaterThan(1_000)
    expect(changes).toBeGreaterThan(20)
  })

  it('are never older than a change whose announcement was lost', async () => {
    const reader = await openReader()
    const subjects = Array.from({ length: 8 }, (_, number) => `customer ${number}`)
    let version = 0
    for (let round = 0; round < 8; round += 1) {
      for (const subject of subjects) await untilCached(reader, subject)
      await admin.client('KILL', 'TYPE', 'pubsub')
      // Some are announced while the subscription is lost, and some when it is back.
      const change = async (subject: string): Promise<void> => {
        await sleep(Math.random() * 300)
        const next = (version += 1)
        await put(subject, next)
        expect(await read(reader, subject)).toBe(next)
      }
      await Promise.all(subjects.map(change))
    }
  })

  it('are read again after a number is missing among the announcements', async () => {
    const reader = await openReader()
    await put('changed', 1)
    await untilCached(reader, 'changed')
    const [name = ''] = await admin.keys('*entry:*changed*')
    await admin.multi().set(name, '2').hincrby('tollgate:caches', 'sequence', 1).exec()
    await put('another', 1)
    expect(await read(reader, 'changed')).toBe(2)
  })

  it.each([
    ['of a paused process delay a change until its lease ends', false],
    ['of a paused process whose announcements are lost are not used afterwards', true],
  ])('%s', async (_, isLost) => {
    await put('paused', 1)
    const child = startReader(server.url)
    const lines: { atMs: number; version: number }[] = []
    createInterface({ input: child.stdout! }).on('line', (line) => {
      const [atMs = 0, version = 0] = line.split(' ').map(Number)
      lines.push({ atMs, version })
    })
    /** Changes the entry, and checks that no read that begins afterwards returns the former version. */
    const change = async (version: number): Promise<void> => {
      await put('paused', version)
      const madeAtMs = Date.now()
      child.kill('SIGCONT')
      await expect.poll(() => lines.at(-1)!.version).toBe(version)
      await sleep(100)
      const old = lines.filter((line) => line.atMs > madeAtMs && line.version < version)
      expect(old).toEqual([])
    }
    try {
      await expect.poll(() => lines.length, { timeout: 20_000 }).toBeGreaterThan(100)
      child.kill('SIGSTOP')
      if (isLost) await admin.client('KILL', 'TYPE', 'pubsub')
      const beganAtMs = performance.now()
      await change(2)
      expect(performance.now() - beganAtMs).toBeGreaterThan(leaseMs / 2)
      // A process that runs notices a change at once.
      await change(3)
    } finally {
      child.kill('SIGKILL')
      await once(child, 'close')
    }
  })
})

function startReader(url: string): ChildProcess {
  const path = fileURLToPath(new URL('cached-entry-reader.ts', import.meta.url))
  const parameters = ['--conditions=source', '--import', 'tsx', path, url, `${leaseMs}`]
  return spawn(process.execPath, parameters, { stdio: ['ignore', 'pipe', 'inherit'] })
}
