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
])('the price of a plan includes units: %j', (each, included) => {
  expect(includedMicros(each)).toBe(included)
})

describe('the first period of a purchase after a change within a period', () => {
  const start = new Date('2026-06-11T00:00:00Z')
  const inFirst = (each: PlanCore, firstIncludedMicros: bigint | null) =>
    planOfPeriod(each, { startDate: start, firstIncludedMicros }, { start })

  test.each([
    [recurring, 70, 70],
    [hybrid, 20, 400],
    [withOverage, 70, 120],
    [withOverage, 30, 80],
  ])('includes other units and allows as many more as before: %j', (each, included, cap) => {
    const first = inFirst(each, units(included))
    expect(includedMicros(first)).toBe(units(included))
    expect(effectiveCap(first)).toBe(units(cap))
  })

  test('leaves fewer units until the amount is reached that may be unbilled', () => {
    const limited = plan('hybrid', { freeUnits: 50, creditsPerUnit: 1, maxUnbilledUnits: 80 })
    expect(unbilledCap(inFirst(limited, units(20)))?.units).toBe(units(50))
  })

  test('allows nothing where nothing is included, as a limit of 0 would be none', () => {
    expect(effectiveCap(inFirst(recurring, 0n))).toBe(1n)
  })

  test('is as the plan says where nothing was shared out, and so is every other period', () => {
    expect(inFirst(recurring, null)).toBe(recurring)
    const purchase = { startDate: start, firstIncludedMicros: units(70) }
    const next = new Date('2026-07-01T00:00:00Z')
    expect(planOfPeriod(recurring, purchase, { start: next })).toBe(recurring)
  })
})
