import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { EntryAddress, HotState } from '../src/hot-state/hot-state.ts'
import { openRedisHotState } from '../src/hot-state/redis/redis-hot-state.ts'
import { beginRestore } from '../src/testing/begun-restore.ts'
import { freePorts } from '../src/testing/free-ports.ts'
import { hasRedisServer, RedisServerProcess } from '../src/testing/redis-server.ts'
import { answered } from './answered.ts'
import { callTimeoutMs } from './patience.ts'

/** A command as seen by the server, with the commands of the script that it called. */
type Call = { readonly command: string[]; readonly byScript: string[][] }

describe.skipIf(!hasRedisServer)('hot state on a redis-server that is watched', () => {
  let folder: string
  let server: RedisServerProcess
  let client: Redis
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hot-state-redis-slots-'))
    const [port, busPort] = (await freePorts(2)) as [number, number]
    // Only a cluster node returns the slot of a key.
    const settings = { 'cluster-enabled': 'yes', 'cluster-port': `${busPort}` }
    server = await RedisServerProcess.start({ folder, port, settings })
    client = new Redis(server.url)
    await client.call('CLUSTER', 'ADDSLOTSRANGE', 0, 16_383)
  })
  afterEach(async () => {
    client.disconnect()
    await server.kill()
    await rm(folder, { recursive: true, force: true })
  })

  it('uses keys of only one hash slot in each call', async () => {
    const hot = await openRedisHotState({ servers: { url: server.url }, callTimeoutMs })
    await answered(() => hot.putDocument('the slots are served', ''))
    const calls = await callsDuring(client, () => useEverything(hot))
    await hot.close()

    const scripts = calls.filter(({ byScript }) => byScript.length > 0)
    const ofDocuments = calls.filter(({ command }) => /^(get|set|del)$/.test(command[0]!))
    expect(ofDocuments).toHaveLength(3)
    const names = scripts.flatMap(({ byScript }) => byScript.map(([name]) => name))
    expect(new Set(names).size).toBeGreaterThan(15)
    for (const { command, byScript } of [...scripts, ...ofDocuments]) {
      const keys: string[] = []
      for (const each of [command, ...byScript]) keys.push(...(await keysOf(client, each)))
      const slots = await Promise.all(keys.map(async (key) => client.cluster('KEYSLOT', key)))
      expect([keys, new Set(slots).size]).toEqual([keys, 1])
    }
  })
})

async function callsDuring(client: Redis, act: () => Promise<void>): Promise<Call[]> {
  const calls: Call[] = []
  const monitor = await client.monitor()
  monitor.on('monitor', (_, command: string[], source: string) => {
    if (source === 'lua') calls.at(-1)!.byScript.push(command)
    else calls.push({ command, byScript: [] })
  })
  await act()
  await client.echo('this is the last one')
  await expect.poll(() => calls.at(-1)?.command[1]).toBe('this is the last one')
  monitor.disconnect()
  return calls
}

async function useEverything(hot: HotState): Promise<void> {
  const [space, partition] = ['l{i}ve', 3]
  const at = { space, partition, subject: 's{1}', scope: 'a}' }
  const window = { id: 'w', fromSecond: 0, toSecond: 100 }
  const use = { subject: at.subject, series: 'calls', amount: 2n ** 63n - 1n }
  const marks = [{ id: 'i', offset: 1, receivedAtMs: 1 }]
  await hot.putDocument('a{b}c', 'd')
  await hot.readDocument('a{b}c')
  await hot.deleteDocument('a{b}c')
  let expectedOffset = 0
  for (let round = 0; round < 3; round += 1) {
    const increments = ['', at.scope].flatMap((scope) => [
      { ...use, scope, second: 1 },
      { ...use, scope, second: 200 },
    ])
    const batch = { space, partition, marks, increments }
    await hot.apply({ ...batch, expectedOffset, nextOffset: (expectedOffset += 10) })
    await hot.putEntry(at, { version: 1, document: '{}', windows: [window] })
    await hot.putEntry({ ...at, scope: '' }, { version: 1, document: '{}', windows: [] })
    await hot.readEntry(at, 'calls')
    await useReservations(hot, at)
    await hot.readEntryDocument(at)
    await useRestores(hot, at, expectedOffset)
    await hot.deleteEntry(at)
  }
  await hot.claimMarks({ space, partition, fromOffset: 0, toOffset: 10, marks })
  await hot.readMarks(space, partition, ['i'])
  await hot.appliedOffset(space, partition)
  const allExpired = {
    marksReceivedBeforeMs: 1e9,
    reservationsExpiredBeforeMs: 1e15,
    windowsEndedBeforeSecond: 1e9,
    slotsBeforeSecond: 1e9,
    knownSubjectSlotsBeforeSecond: 1e9,
  }
  while ((await hot.sweep(space, partition, { ...allExpired, keysMax: 10 })) > 0);
}

async function useReservations(hot: HotState, at: EntryAddress): Promise<void> {
  const { space, partition, subject, scope } = at
  const request = {
    at,
    document: '{}',
    units: 1n,
    takes: 'all' as const,
    ttlMs: 60_000,
    subjects: [subject],
    series: 'calls',
    windowId: 'w',
    cap: null,
    minOffset: 0,
    isReservedFirst: true,
    elsewhere: { amount: 0n, appliedOffsets: new Map([[1, 10]]) },
    reservationsMax: 10,
  }
  for (const reservationId of ['r{1}', 'r{2}']) {
    expect(await hot.reserve({ ...request, reservationId })).toMatchObject({ kind: 'admitted' })
  }
  await hot.releaseReservation(at, 'r{1}')
  const settled = [{ subject, scope, reservationId: 'r{2}' }]
  await hot.settleReservations({
    space,
    partition,
    settled,
    countedIn: { partition: 1, nextOffset: 10 },
  })
  await hot.readTaken({ at, series: 'calls', windowId: 'w', minOffset: 0 })
}

async function useRestores(hot: HotState, at: EntryAddress, nextOffset: number): Promise<void> {
  const spans = ['', at.scope, 'b}'].flatMap((scope) =>
    [1, 50, 500].map((fromSecond) => {
      const use = { subject: at.subject, scope, series: 'calls', amount: 2n ** 70n }
      return { ...use, fromSecond, lastSecond: fromSecond - (fromSecond % 2) + 1 }
    }),
  )
  await (await beginRestore(hot, at)).add(spans)
  const restore = await beginRestore(hot, at)
  await restore.add(spans)
  await restore.mark([{ id: 'j', offset: 2, receivedAtMs: 1 }], 10)
  await hot.putEntry({ ...at, scope: 'b}' }, { version: 1, document: '{}', windows: [] })
  await restore.finish(nextOffset)
}

async function keysOf(client: Redis, command: string[]): Promise<string[]> {
  // It scans all names of a server and uses those that begin with the head's.
  if (/^(publish|time|scan|info)$/i.test(command[0]!)) return []
  return (await client.call('COMMAND', 'GETKEYS', ...command)) as string[]
}
