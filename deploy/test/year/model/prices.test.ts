import { expect, test } from 'vitest'
import { creditsOf, roundedCents, type UsagePrices } from './prices.ts'

/* The model itself is held to the worked examples of the wire contract (4.4, 4.5). */

const postPaid: UsagePrices = { limit: 10_000, freeUnits: 100, rate: 100 }
const tiers = [
  { from: 0, to: 500, rate: 50 },
  { from: 501, to: 2_000, rate: 30 },
  { from: 2_001, rate: 10 },
]
const overage: UsagePrices = { limit: 1_000, rate: 0, overage: { rate: 80, most: 5_000 } }

test.each([
  ['A', postPaid, 5_250, 5_150n],
  ['B', postPaid, 12_000, 9_900n],
  ['C', postPaid, 80, 0n],
  ['D', { ...postPaid, rate: 10 }, 1_234, 113n],
  ['E', { ...overage, tiers, overage: { rate: 80 } }, 3_500, 750n],
  ['F', overage, 3_500, 2_000n],
  ['G', overage, 7_500, 4_000n],
  ['H', { limit: 1_000, freeUnits: 200, rate: 50 }, 1_000, 400n],
])('example %s', (_name, prices, used, cents) => {
  expect(roundedCents(creditsOf(prices, used))).toBe(cents)
})
