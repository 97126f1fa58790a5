import { expect, it } from 'vitest'
import { ConcurrencyLimit } from './concurrency-limit.ts'

it('runs a limited number of tasks at a time in first-come order, and continues after a failure', async () => {
  const concurrencyLimit = new ConcurrencyLimit(2)
  const order: number[] = []
  let inside = 0
  let insideMost = 0
  const visit = (number: number): Promise<void> =>
    concurrencyLimit.run(async () => {
      order.push(number)
      insideMost = Math.max(insideMost, ++inside)
      await new Promise((resolve) => setImmediate(resolve))
      inside--
      if (number === 1) throw new Error('failed')
    })
  const results = await Promise.allSettled([0, 1, 2, 3, 4].map(visit))
  expect(order).toEqual([0, 1, 2, 3, 4])
  expect(insideMost).toBe(2)
  expect(results.map((result) => result.status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
    'fulfilled',
  ])
})
