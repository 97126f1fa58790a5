import { expect, test } from 'vitest'
import { marginPicos } from './margin.ts'

const cents = (currency: string, amountMinor: bigint) => ({ currency, amountMinor })

test.each([
  ['debited credits at 10^-4 dollars', { debitedMicros: 1_000_000n, invoiced: [] }, 0n, 10n ** 8n],
  [
    'credits and invoices less the cost',
    { debitedMicros: 3n, invoiced: [cents('USD', 250n), cents('USD', -50n)] },
    7n,
    2n * 10n ** 12n + 293n,
  ],
  ['a loss', { debitedMicros: 0n, invoiced: [] }, 5n, -5n],
  [
    'no margin with an invoice in another currency',
    { debitedMicros: 9n, invoiced: [cents('USD', 1n), cents('SEK', 1n)] },
    0n,
    undefined,
  ],
])('returns %s', (_title, revenue, cost, expected) => {
  expect(marginPicos(revenue, cost)).toBe(expected)
})
