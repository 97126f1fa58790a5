import { expect, test } from 'vitest'
import type { PublishedMeters } from '@tollgate/schemas/hot-state/documents'
import { MetersCache } from './meters-cache.ts'

function documentOf(type: string): string {
  const reads = { aggregation: 'count', type, where: {}, value: [], dimensions: [] } as const
  const meters: PublishedMeters = {
    meters: { calls: { reference: 'mtr_1', status: 'active', reads } },
  }
  return JSON.stringify(meters)
}

test('parses the meters of a provider again only after they have changed', async () => {
  let document = documentOf('call')
  const hotState = {
    readDocument: () => Promise.resolve(document),
    incarnation: () => Promise.resolve('1'),
  }
  const cache = new MetersCache(
    hotState,
    () => Promise.reject(new Error('not asked')),
    { oldMeters: 0, unpricedCalls: 0 },
    { freshMs: 0, staleMs: 1_000, providersMax: 2 },
  )
  const holder = { environment: 'sandbox', providerId: 'prv_1' } as Parameters<
    MetersCache['matcherOf']
  >[0]
  const first = await cache.matcherOf(holder)
  expect(await cache.matcherOf(holder)).toBe(first)
  document = documentOf('request')
  const second = await cache.matcherOf(holder)
  expect(second).not.toBe(first)
  document = documentOf('call')
  expect(await cache.matcherOf(holder)).not.toBe(second)
})
