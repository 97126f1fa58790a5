import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ExactSum } from './exact-sum.ts'

it('equals the sum of bigints for any order and size', () => {
  fc.assert(
    fc.property(fc.array(fc.maxSafeInteger()), (values) => {
      const sum = new ExactSum()
      for (const value of values) sum.add(value)
      expect(sum.total()).toBe(values.reduce((total, value) => total + BigInt(value), 0n))
    }),
  )
})

it('keeps the last unit beyond 2^53', () => {
  const sum = new ExactSum()
  sum.add(Number.MAX_SAFE_INTEGER)
  sum.add(1)
  sum.add(1)
  expect(sum.total()).toBe(9_007_199_254_740_993n)
})
