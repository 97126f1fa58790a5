import { expect, test } from 'vitest'
import { formatAmount } from './amounts.ts'

test.each([
  [5_400, 'usd', '$54.00'],
  [99_999_999, 'eur', '€999,999.99'],
  [500, 'jpy', '¥500'],
  [500, 'mga', 'MGA 500'],
  [12_500, 'kwd', 'KWD 12.500'],
  // In Stripe, these currencies have 2 decimals, although officially they have none.
  [10_000, 'ugx', 'UGX 100.00'],
  [10_000, 'isk', 'ISK 100.00'],
])('formats %i %s as %s', (amount, currency, words) => {
  expect(formatAmount(amount, currency)).toBe(words)
})
