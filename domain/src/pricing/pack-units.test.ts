import { expect, test } from 'vitest'
import { priceUsage } from './price-usage.ts'
import type { UsageTerms } from './usage-terms.ts'

const unit = 1_000_000n
const terms: UsageTerms = {
  limit: null,
  freeUnits: '100',
  rate: { kind: 'flat', creditsPerUnit: '1' },
}

test('credits no usage of an earlier purchase if a correction leaves less than packs paid for', () => {
  const usedBeforeMicros = 150n * unit
  const price = (used: bigint): bigint =>
    priceUsage(terms, { usedMicros: used * unit, usedBeforeMicros, packMicros: 80n * unit })
  expect([price(100n), price(80n), price(50n), price(0n)]).toEqual([20n * unit * unit, 0n, 0n, 0n])
})
