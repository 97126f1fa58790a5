import { expect, test } from 'vitest'
import { mediansOf, spreadOf } from './statistics.ts'

test('returns the median, the smallest and the largest value in any order', () => {
  expect(spreadOf([0.3, 0.1, 0.2])).toEqual({ median: 0.2, min: 0.1, max: 0.3 })
  expect(spreadOf([10, 9, 100, 8, 7])).toEqual({ median: 9, min: 7, max: 100 })
})

test('returns a single value as median, minimum and maximum', () => {
  expect(spreadOf([0.5])).toEqual({ median: 0.5, min: 0.5, max: 0.5 })
})

test('takes the lower of the two middle values of an even number of values', () => {
  expect(spreadOf([4, 1, 3, 2]).median).toBe(2)
})

test('takes the median of each member by itself', () => {
  const results = [
    { rate: 1, delay: 30 },
    { rate: 2, delay: 20 },
    { rate: 3, delay: 10 },
  ]
  expect(mediansOf(results, ['rate', 'delay'])).toEqual({ rate: 2, delay: 20 })
})
