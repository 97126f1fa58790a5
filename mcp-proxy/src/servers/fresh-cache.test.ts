import { expect, test } from 'vitest'
import { FreshCache } from './fresh-cache.ts'

/** Returns a cache with a source that the test controls, and a clock that the test sets. */
function cacheOf(read: () => Promise<number>) {
  const time = { now: 1_000_000 }
  const clock = { now: () => time.now }
  const options = { clock, freshMs: 2_000, staleMaxMs: 60_000, entriesMax: 2 }
  return { time, cache: new FreshCache(options, read) }
}

test('reads once, and refreshes an old value in the background of a request', async () => {
  let reads = 0
  const { cache, time } = cacheOf(async () => (reads += 1))
  expect(await cache.get('a')).toBe(1)
  time.now += 1_999
  expect(await cache.get('a')).toBe(1)
  time.now += 1
  expect(await cache.get('a')).toBe(1)
  await new Promise(setImmediate)
  expect([await cache.get('a'), reads]).toEqual([2, 2])
})

test('waits for a new value if the old one was not used for a long time', async () => {
  let reads = 0
  const { cache, time } = cacheOf(async () => (reads += 1))
  await cache.get('a')
  time.now += 10_000
  expect(await cache.get('a')).toBe(2)
})

test('uses an old value while the source fails, rarely retries, and finally rejects', async () => {
  let reads = 0
  let isAway = false
  const { cache, time } = cacheOf(async () => {
    reads += 1
    if (isAway) throw new Error('away')
    return reads
  })
  await cache.get('a')
  isAway = true
  time.now += 10_000
  for (let request = 0; request < 10; request += 1) expect(await cache.get('a')).toBe(1)
  expect(reads).toBe(2)
  time.now += 60_000
  await expect(cache.get('a')).rejects.toThrow('away')
  isAway = false
  expect(await cache.get('a')).toBe(4)
})

test('limits how long a request waits for a source that hangs, and never delays later requests', async () => {
  let isHung = false
  const { cache, time } = cacheOf(() =>
    isHung ? new Promise(() => undefined) : Promise.resolve(1),
  )
  await cache.get('a')
  isHung = true
  time.now += 10_000
  const begunAt = performance.now()
  expect(await cache.get('a')).toBe(1)
  const waitedMs = performance.now() - begunAt
  expect(waitedMs).toBeGreaterThan(400)
  for (let request = 0; request < 100; request += 1) expect(await cache.get('a')).toBe(1)
  expect(performance.now() - begunAt - waitedMs).toBeLessThan(300)
})

test('keeps the most recently read entries', async () => {
  const reads: string[] = []
  const { time } = cacheOf(async () => 0)
  const options = {
    clock: { now: () => time.now },
    freshMs: 2_000,
    staleMaxMs: 60_000,
    entriesMax: 2,
  }
  const cache = new FreshCache(options, async (key) => reads.push(key))
  for (const key of ['a', 'b', 'c', 'b', 'a']) await cache.get(key)
  expect(reads).toEqual(['a', 'b', 'c', 'a'])
})
