import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { HotState } from '../src/hot-state/hot-state.ts'
import { openRedisHotState } from '../src/hot-state/redis/redis-hot-state.ts'
import { RedisUnavailableError } from '../src/hot-state/redis/redis-unavailable-error.ts'
import { freePort } from '../src/testing/free-ports.ts'
import { hasRedisServer, RedisServerProcess } from '../src/testing/redis-server.ts'
import { answered } from './answered.ts'
import { applyBatches, batchFrom, countedPartition, recordsPerBatch } from './counted-batches.ts'
import { expectExact } from './expect-exact.ts'
import { callTimeoutMs } from './patience.ts'

const { space, partition } = countedPartition
const at = { space, partition, subject: 's0', scope: 'a' }

describe.skipIf(!hasRedisServer)('hot state on a redis-server of its own', () => {
  let folder: string
  let server: RedisServerProcess
  let admin: Redis
  let hot: HotState

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hot-state-redis-'))
    const port = await freePort()
    server = await RedisServerProcess.start({ folder, port })
    admin = new Redis(server.url)
    admin.on('error', () => undefined)
    hot = await openRedisHotState({ servers: { url: server.url }, callTimeoutMs })
  })
  afterEach(async () => {
    await hot.close()
    admin.disconnect()
    await server.kill()
    await rm(folder, { recursive: true, force: true })
  })

  it('sends its scripts again if Redis has forgotten them', async () => {
    await applyBatches(hot, 2)
    await admin.script('FLUSH')
    const views = await Promise.all([hot.readEntry(at, 'calls'), hot.readEntry(at, 'calls')])
    expect(views.map(({ appliedOffset }) => appliedOffset)).toEqual([200, 200])
    await admin.script('FLUSH')
    await applyBatches(hot, 2)
    expect(await expectExact(hot)).toBe(4 * recordsPerBatch)
  })

  it('starts from offset 0 if Redis has lost everything', async () => {
    await applyBatches(hot, 3)
    await admin.flushall()
    expect(await hot.apply(batchFrom(3 * recordsPerBatch))).toBe('fenced')
    expect(await hot.appliedOffset(space, partition)).toBe(0)
    await applyBatches(hot, 3)
    expect(await expectExact(hot)).toBe(3 * recordsPerBatch)
  })

  it('has another incarnation after Redis was restarted', async () => {
    const before = await hot.incarnation()
    await server.kill()
    server = await RedisServerProcess.start({ folder, port: server.port })
    expect(await answered(() => hot.incarnation())).not.toBe(before)
  })

  it('continues after its connections are closed', async () => {
    const reader = await openRedisHotState({ servers: { url: server.url }, callTimeoutMs })
    for (const types of [['pubsub'], ['normal'], ['pubsub', 'normal']]) {
      await reader.waitForApply(1_000)
      for (const type of types) await admin.client('KILL', 'TYPE', type, 'SKIPME', 'yes')
      const before = await answered(() => reader.appliedOffset(space, partition))
      await answered(() => hot.ping())
      await hot.apply(batchFrom(before))
      while ((await reader.appliedOffset(space, partition)) === before)
        await reader.waitForApply(10_000)
    }
    await reader.close()
    expect(await expectExact(hot)).toBe(3 * recordsPerBatch)
  })

  it('is woken by a subscription, and by a new one after the first was closed', async () => {
    const listeners = async () => (await admin.pubsub('NUMSUB', 'tollgate:applied'))[1]
    await hot.waitForApply(1)
    await expect.poll(listeners).toBe(1)
    await admin.client('KILL', 'TYPE', 'pubsub')
    await expect.poll(listeners).toBe(0)
    await expect.poll(listeners).toBe(1)
  })

  it('applies a batch with more marks and increments than Lua passes to one call', async () => {
    const windows = [{ id: 'w', fromSecond: 0, toSecond: 30_000 }]
    await hot.putEntry(at, { version: 1, document: '{}', windows })
    const total = 9_000
    const numbers = Array.from({ length: total }, (_, n) => n)
    const batch = (expectedOffset: number, scope: string) => ({
      ...countedPartition,
      expectedOffset,
      nextOffset: expectedOffset + total,
      marks: numbers.map((n) => ({ id: `${scope} ${n}`, offset: n, receivedAtMs: 1 })),
      increments: numbers.map((second) => {
        return { subject: 's0', scope, series: 'calls', second, amount: 1n }
      }),
    })
    expect(await hot.apply(batch(0, 'a'))).toBe('applied')
    expect(await hot.apply(batch(total, ''))).toBe('applied')
    await hot.putEntry({ ...at, scope: 'b' }, { version: 1, document: '{}', windows })
    expect([...(await hot.readEntry(at, 'calls')).amounts]).toEqual([['w', 2n * BigInt(total)]])
    const ofB = await hot.readEntry({ ...at, scope: 'b' }, 'calls')
    expect([...ofB.amounts]).toEqual([['w', BigInt(total)]])
    const ids = numbers.flatMap((n) => [`a ${n}`, ` ${n}`])
    expect(await hot.readMarks(space, partition, ids)).toEqual(numbers.flatMap((n) => [n, n]))
  })

  it.each([
    ['an amount beyond 100 bits', { amount: 2n ** 100n }, {}],
    ['an offset that is none', {}, { nextOffset: 2 ** 53 }],
  ])('changes nothing for %s', async (_, incrementFields, batchFields) => {
    await applyBatches(hot, 1)
    const batch = batchFrom(recordsPerBatch)
    const increments = [...batch.increments, { ...batch.increments[0]!, ...incrementFields }]
    const refused = hot.apply({ ...batch, increments, ...batchFields })
    await expect(refused).rejects.toThrow(RangeError)
    expect(await expectExact(hot)).toBe(recordsPerBatch)
  })

  it('changes nothing if Redis is out of memory', async () => {
    await applyBatches(hot, 1)
    await admin.config('SET', 'maxmemory', '1')
    const refusal = await hot.apply(batchFrom(recordsPerBatch)).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(RedisUnavailableError)
    expect(String(refusal)).toContain('OOM')
    await admin.config('SET', 'maxmemory', '0')
    expect(await expectExact(hot)).toBe(recordsPerBatch)
  })

  it('reports a Redis that may evict keys as unhealthy', async () => {
    await hot.ping()
    await admin.config('SET', 'maxmemory-policy', 'allkeys-lru')
    await expect(hot.ping()).rejects.toThrow('maxmemory-policy is allkeys-lru')
    await admin.config('SET', 'maxmemory-policy', 'volatile-lru')
    await hot.ping()
  })

  it('reports Redis as unavailable while it refuses writes for lack of replicas', async () => {
    await applyBatches(hot, 1)
    await hot.putDocument('a', 'a')
    await hot.putEntry({ ...at, scope: 'b' }, { version: 1, document: 'd', windows: [] })
    await admin.config('SET', 'min-replicas-to-write', '1')
    const writes = [
      () => hot.apply(batchFrom(recordsPerBatch)),
      () => hot.putDocument('a', 'b'),
      () => hot.deleteDocument('a'),
      () => hot.putEntry({ ...at, scope: 'c' }, { version: 1, document: 'd', windows: [] }),
      () => hot.deleteEntry({ ...at, scope: 'b' }),
    ]
    for (const write of writes) {
      const refusal = await write().catch((error: unknown) => error)
      expect(refusal).toBeInstanceOf(RedisUnavailableError)
      expect(String(refusal)).toContain('NOREPLICAS')
    }
    expect(await hot.appliedOffset(space, partition)).toBe(recordsPerBatch)
    expect(await hot.readDocument('a')).toBe('a')
    await admin.config('SET', 'min-replicas-to-write', '0')
    await applyBatches(hot, 1)
    expect(await expectExact(hot)).toBe(2 * recordsPerBatch)
  })

  it('fails calls to a hanging Redis, accepts a limited number of them, and recovers', async () => {
    const limits = { callTimeoutMs: 500, callsInFlightMax: 5 }
    const bounded = await openRedisHotState({ servers: { url: server.url }, ...limits })
    await applyBatches(hot, 1)
    await answered(() => bounded.ping())
    server.pause()
    const reads = Array.from({ length: 7 }, (_, at) => bounded.readDocument(`${at}`))
    const outcomes = await Promise.allSettled([bounded.apply(batchFrom(recordsPerBatch)), ...reads])
    const reasons = outcomes.map((outcome): unknown => {
      return outcome.status === 'rejected' && outcome.reason
    })
    for (const reason of reasons) expect(reason).toBeInstanceOf(RedisUnavailableError)
    expect(reasons.filter((reason) => String(reason).includes('5 calls wait'))).toHaveLength(3)
    server.resume()
    await answered(() => bounded.ping())
    await bounded.close()
    // The abandoned batch may or may not have been applied.
    const applied = await expectExact(hot)
    expect([1, 2]).toContain(applied / recordsPerBatch)
    await applyBatches(hot, 1)
    expect(await expectExact(hot)).toBe(applied + recordsPerBatch)
  })

  it('fails calls to a hanging Redis at once after the first one, until it answers again', async () => {
    const url = server.url
    const impatient = await openRedisHotState({ servers: { url }, callTimeoutMs: 500 })
    await answered(() => impatient.ping())
    server.pause()
    await expect(impatient.readDocument('a')).rejects.toThrow('not answered within 500 ms')
    for (let call = 0; call < 50; call += 1) {
      await expect(impatient.readDocument('a')).rejects.toThrow('Redis hangs')
    }
    server.resume()
    await answered(() => impatient.ping())
    await impatient.putDocument('a', 'b')
    expect(await impatient.readDocument('a')).toBe('b')
    await impatient.close()
  })

  it('opens while Redis is unavailable, and works when it is back', async () => {
    await applyBatches(hot, 1)
    await server.kill()
    const early = await openRedisHotState({ servers: { url: server.url }, callTimeoutMs })
    await expect(early.ping()).rejects.toThrow(RedisUnavailableError)
    await expect(early.apply(batchFrom(0))).rejects.toThrow(RedisUnavailableError)
    await early.waitForApply(1)
    server = await RedisServerProcess.start({ folder, port: server.port })
    await answered(() => early.ping())
    await applyBatches(early, 2)
    expect(await expectExact(early)).toBe(2 * recordsPerBatch)
    await early.close()
  })
})
