import { expect, it } from 'vitest'
import { RecordCache } from './record-cache.ts'

function run(fromOffset: number, count: number) {
  return Array.from({ length: count }, (_, index) => {
    return { offset: fromOffset + index, receivedAtMs: 1, value: Buffer.alloc(100) }
  })
}

it('returns records that begin at an offset once', () => {
  const cache = new RecordCache(10_000)
  cache.put('orders', 0, run(5, 3))
  expect(cache.take('orders', 0, 6)).toBeUndefined()
  expect(cache.take('orders', 1, 5)).toBeUndefined()
  expect(cache.take('refunds', 0, 5)).toBeUndefined()
  expect(cache.take('orders', 0, 5)?.map(({ offset }) => offset)).toEqual([5, 6, 7])
  expect(cache.take('orders', 0, 5)).toBeUndefined()
})

it('drops the oldest when it is full, and frees the room of taken or replaced records', () => {
  const cache = new RecordCache(1_000)
  for (let round = 0; round < 10; round += 1) {
    cache.put('orders', 0, run(0, 3))
    if (round % 2 === 0) cache.take('orders', 0, 0)
  }
  cache.put('orders', 0, run(0, 1))
  cache.put('orders', 1, run(0, 2))
  expect(cache.take('orders', 0, 0)?.length).toBe(1)
  cache.put('orders', 2, run(0, 3))
  expect(cache.take('orders', 1, 0)).toBeUndefined()
  expect(cache.take('orders', 2, 0)?.length).toBe(3)
})
