import { decimalFromMicros } from '@tollgate/schemas/quantity'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { priceUsage } from './price-usage.ts'
import { unitsWithinAmount } from './unbilled-units.ts'
import type { Tier, UsageTerms } from './usage-terms.ts'

const micros = (most: number, least = 0) => fc.integer({ min: least, max: most })
const decimal = (amount: number): string => decimalFromMicros(BigInt(amount))

type Drawn = {
  readonly kind: 'flat' | 'graduated' | 'volume'
  readonly tiers: readonly { readonly width: number | null; readonly rate: number }[]
  readonly free: number
  readonly limit: number | null
  readonly hasOverage: boolean
  readonly packageMicros: number | null
}

/** Few enough units of 10^-6 that all of them can be counted. */
const drawn: fc.Arbitrary<Drawn> = fc.record({
  kind: fc.constantFrom('flat', 'graduated', 'volume'),
  tiers: fc.array(fc.record({ width: fc.option(micros(12, 1)), rate: micros(6) }), {
    minLength: 1,
    maxLength: 4,
  }),
  free: micros(8),
  limit: fc.option(micros(20, 1)),
  hasOverage: fc.boolean(),
  packageMicros: fc.option(micros(7, 1)),
})

function termsOf({ kind, tiers, free, limit, hasOverage, packageMicros }: Drawn): UsageTerms {
  let end = 0
  const named = tiers.map(({ width, rate }, index): Tier => {
    end += width ?? 5
    const isOpen = width === null && index === tiers.length - 1
    return { upTo: isOpen ? null : decimal(end), creditsPerUnit: decimal(rate) }
  })
  return {
    limit: limit === null ? null : decimal(limit),
    freeUnits: decimal(free),
    ...(hasOverage ? { overage: { maxUnits: null } } : {}),
    ...(packageMicros === null ? {} : { unitsPerPackage: decimal(packageMicros) }),
    rate:
      kind === 'flat' ? { kind, creditsPerUnit: named[0]!.creditsPerUnit } : { kind, tiers: named },
  }
}

/** Returns the price of the units, counted one by one. */
function modelPrice({ kind, tiers }: Drawn, units: number): number {
  const ends: number[] = []
  for (const { width } of tiers) ends.push((ends.at(-1) ?? 0) + (width ?? 5))
  const rateAt = (unit: number): number => {
    if (kind === 'flat') return tiers[0]!.rate
    const tier = ends.findIndex((end) => unit <= end)
    return tiers[tier === -1 ? tiers.length - 1 : tier]!.rate
  }
  if (kind === 'volume') return units === 0 ? 0 : units * rateAt(units)
  let sum = 0
  for (let unit = 1; unit <= units; unit += 1) sum += rateAt(unit)
  return sum
}

const farUnits = 400

/** Adds one package or unit at a time, as long as the price fits. */
function modelUnits(plan: Drawn, amount: number): number | undefined {
  const step = plan.packageMicros ?? 1
  const unpriced = plan.free + (plan.hasOverage ? (plan.limit ?? 0) : 0)
  for (let units = 0; units <= farUnits; units += step) {
    if (modelPrice(plan, units) === amount) return unpriced + units
    if (modelPrice(plan, units + step) > amount) return unpriced + units
  }
  return undefined
}

describe('unitsWithinAmount', () => {
  test('returns the same number as a model that counts units one by one, for every kind of price', () => {
    let reached = 0
    fc.assert(
      fc.property(drawn, fc.integer({ min: 2, max: 260 }), fc.boolean(), (plan, halves, isHalf) => {
        const amount = isHalf ? halves / 2 : halves
        const fraction = { numerator: BigInt(amount * 2), denominator: 2n }
        const found = unitsWithinAmount(termsOf(plan), fraction)
        const expected = modelUnits(plan, amount)
        if (expected !== undefined) reached += 1
        expect(found).toBe(expected === undefined ? undefined : BigInt(expected))
      }),
      { numRuns: 5_000 },
    )
    expect(reached).toBeGreaterThan(2_500)
  })

  test('never allows a bill above the amount, whatever other purchases used before', () => {
    const amounts = fc.bigInt({ min: 1n, max: 260n })
    fc.assert(
      fc.property(drawn, amounts, micros(60), micros(60), (plan, amount, before, own) => {
        const { limit: _limit, ...rest } = termsOf({ ...plan, packageMicros: null })
        const terms = { ...rest, limit: plan.hasOverage ? termsOf(plan).limit : null }
        const units = unitsWithinAmount(terms, { numerator: amount, denominator: 1n })
        fc.pre(units === undefined || BigInt(before + own) <= units)
        const used = { usedMicros: BigInt(own), usedBeforeMicros: BigInt(before) }
        expect(priceUsage(terms, used) <= amount).toBe(true)
      }),
      { numRuns: 5_000 },
    )
  })
})
