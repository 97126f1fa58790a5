import { expect, it } from 'vitest'
import { Turnstile } from './turnstile.ts'

it('lets so many in at a time, in the order they came, and goes on after a failure', async () => {
  const turnstile = new Turnstile(2)
  const order: number[] = []
  let inside = 0
  let insideMost = 0
  const visit = (number: number): Promise<void> =>
    turnstile.run(async () => {
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
