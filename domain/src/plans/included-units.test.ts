import { describe, expect, test } from 'vitest'
import { includedMicros, planOfPeriod } from './included-units.ts'
import { effectiveCap } from './plan-cap.ts'
import type { PlanCore, PlanTerms } from './plan.ts'
import { unbilledCap } from '../catalog/unbilled-limit.ts'

const units = (count: number) => BigInt(count) * 1_000_000n

function plan(type: PlanCore['type'], terms: PlanTerms): PlanCore {
  return { type, priceMinor: 1_900, basePriceMinor: type === 'hybrid' ? 1_900 : null, terms }
}

const overagePolicy = { allowOverage: true, overageRate: 1, maxOverage: 50 }

const recurring = plan('recurring', { limit: 100 })
const hybrid = plan('hybrid', { limit: 400, freeUnits: 50, creditsPerUnit: 1 })
const withOverage = plan('hybrid', { limit: 400, freeUnits: 50, overagePolicy })

test.each([
  [plan('recurring', {}), null],
  [recurring, units(100)],
  [hybrid, units(50)],
  [plan('hybrid', { creditsPerUnit: 1 }), 0n],
  [withOverage, units(450)],
])('counts the units that the price of a plan includes: %j', (each, included) => {
  expect(includedMicros(each)).toBe(included)
})

describe('planOfPeriod, in the first period after a change within a period', () => {
  const start = new Date('2026-06-11T00:00:00Z')
  const inFirst = (each: PlanCore, firstIncludedMicros: bigint | null) =>
    planOfPeriod(each, { startDate: start, firstIncludedMicros }, { start })

  test.each([
    [recurring, 70, 70],
    [hybrid, 20, 400],
    [withOverage, 70, 120],
    [withOverage, 30, 80],
  ])('includes the prorated units and allows as many more as before: %j', (each, included, cap) => {
    const first = inFirst(each, units(included))
    expect(includedMicros(first)).toBe(units(included))
    expect(effectiveCap(first)).toBe(units(cap))
  })

  test('leaves fewer units before the maximum unbilled amount is reached', () => {
    const limited = plan('hybrid', { freeUnits: 50, creditsPerUnit: 1, maxUnbilledUnits: 80 })
    expect(unbilledCap(inFirst(limited, units(20)))?.units).toBe(units(50))
  })

  test('allows almost nothing if no units are included, because a limit of 0 means no limit', () => {
    expect(effectiveCap(inFirst(recurring, 0n))).toBe(1n)
  })

  test('keeps the terms of the plan in other periods, and if nothing was prorated', () => {
    expect(inFirst(recurring, null)).toBe(recurring)
    const purchase = { startDate: start, firstIncludedMicros: units(70) }
    const next = new Date('2026-07-01T00:00:00Z')
    expect(planOfPeriod(recurring, purchase, { start: next })).toBe(recurring)
  })
})
