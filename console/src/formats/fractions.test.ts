import { expect, test } from 'vitest'
import { formatFraction } from './fractions.ts'

test.each([
  ['22500', '1', '22,500'],
  ['22500000000', '1000000', '22,500'],
  ['-10', '4', '-5 / 2'],
  ['0', '7', '0'],
  ['100000000000000000001', '3', '100,000,000,000,000,000,001 / 3'],
])('%s / %s is %s', (numerator, denominator, text) => {
  expect(formatFraction(numerator, denominator)).toBe(text)
})
