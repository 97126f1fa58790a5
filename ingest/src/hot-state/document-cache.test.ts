import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { UnavailableError } from '../domain/unavailable-error.ts'
import { DocumentCache, type DocumentCacheOptions } from './document-cache.ts'

function cacheOf(
  load: (key: string) => Promise<string | undefined>,
  options: Partial<DocumentCacheOptions<string>> = {},
): DocumentCache<string> {
  return new DocumentCache({
    load,
    freshMs: 30,
    staleMs: 60,
    presentMax: 2,
    missingMax: 2,
    ...options,
  })
}

// The tests advance the time themselves: on a busy machine 30 ms may pass before the next line runs.
beforeEach(() => vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => vi.useRealTimers())

describe('a cache of documents', () => {
  it('reads once for concurrent readers, and again when the document is no longer fresh', async () => {
    let reads = 0
    const cache = cacheOf(async () => `read ${++reads}`)
    expect(cache.peek('a')).toBeUndefined()
    expect(await Promise.all([cache.find('a'), cache.find('a')])).toEqual(['read 1', 'read 1'])
    expect(cache.peek('a')?.value).toBe('read 1')
    vi.advanceTimersByTime(35)
    expect(cache.peek('a')).toBeUndefined()
    expect(await cache.find('a')).toBe('read 2')
  })

  it('caches that a document is missing, until it exists', async () => {
    const documents = new Map<string, string>()
    const cache = cacheOf(async (key) => documents.get(key))
    expect(await cache.find('a')).toBeUndefined()
    documents.set('a', 'now')
    expect(cache.peek('a')).toMatchObject({ value: undefined })
    expect(await cache.reread('a')).toBe('now')
    expect(cache.peek('a')?.value).toBe('now')
  })

  it('uses the cached document while no read succeeds, for a limited time', async () => {
    let isDown = false
    const cache = cacheOf(async () => {
      if (isDown) throw new Error('down')
      return 'known'
    })
    await cache.find('a')
    isDown = true
    vi.advanceTimersByTime(35)
    expect(await cache.find('a')).toBe('known')
    vi.advanceTimersByTime(35)
    await expect(cache.find('a')).rejects.toThrow(UnavailableError)
    await expect(cache.find('never seen')).rejects.toThrow(UnavailableError)
  })

  it('evicts the oldest documents beyond its bounds, and no existing document for a missing one', async () => {
    const cache = cacheOf(async (key) => (key.startsWith('no') ? undefined : key), {
      freshMs: 10_000,
    })
    for (const key of ['a', 'b', 'no1', 'no2', 'no3']) await cache.find(key)
    const known = ['a', 'b', 'no1', 'no2', 'no3'].filter((key) => cache.peek(key) !== undefined)
    expect(known).toEqual(['a', 'b', 'no2', 'no3'])
    await cache.find('c')
    expect(cache.peek('a')).toBeUndefined()
  })
})
