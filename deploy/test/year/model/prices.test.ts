import { expect, test } from 'vitest'
import { dollars, priceOfCredits } from './money.ts'
import { creditsOf, unusedUnits, type UsagePrices } from './prices.ts'

/* Verifies the model with the worked examples of the wire contract (4.4, 4.5). */

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
  expect(priceOfCredits(creditsOf(prices, used), dollars)).toBe(cents)
})

test('computes unused units', () => {
  const prices: UsagePrices = { limit: 1_000, rate: 1, rollsOver: true }
  expect(unusedUnits(prices, 600)).toBe(400)
  expect(creditsOf(prices, 2_000, 400)).toBe(1_400n)
})

test('prices packages, and tiers by volume', () => {
  expect(creditsOf({ rate: 3, package: 100 }, 101)).toBe(600n)
  const byVolume: UsagePrices = { rate: 0, tiers, byVolume: true }
  expect(creditsOf(byVolume, 500)).toBe(25_000n)
  expect(creditsOf(byVolume, 501)).toBe(15_030n)
})
