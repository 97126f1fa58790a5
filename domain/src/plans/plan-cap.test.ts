import { describe, expect, it } from 'vitest'
import { effectiveCap } from './plan-cap.ts'
import type { PlanCore, PlanTerms } from './plan.ts'

const plan = (type: PlanCore['type'], priceMinor: number, terms: PlanTerms): PlanCore => ({
  type,
  priceMinor,
  basePriceMinor: null,
  terms,
})

const overage = (maxOverage?: number): PlanTerms => ({
  overagePolicy: { allowOverage: true, ...(maxOverage === undefined ? {} : { maxOverage }) },
})

describe('effectiveCap', () => {
  it.each<[string, PlanCore, number | null]>([
    ['free, limit', plan('recurring', 0, { limit: 10 }), 10],
    ['free, limit and free units', plan('recurring', 0, { limit: 10, freeUnits: 10 }), 10],
    ['free, free units only', plan('recurring', 0, { limit: 0, freeUnits: 7 }), 7],
    ['free, neither', plan('recurring', 0, { limit: 0, freeUnits: 0 }), null],
    ['paid, limit', plan('recurring', 100, { limit: 10, freeUnits: 5 }), 10],
    ['paid, free units only', plan('recurring', 100, { freeUnits: 5 }), null],
    ['pre-paid, limit', plan('usage-based', 0, { limit: 3, freeUnits: 9 }), 3],
    ['pre-paid, none', plan('usage-based', 0, { freeUnits: 9 }), null],
    ['post-paid', plan('usage-based', 0, { billingModel: 'post-paid', limit: 4 }), 4],
    ['hybrid, no policy', plan('hybrid', 0, { limit: 100, freeUnits: 5 }), 100],
    ['hybrid, no limit', plan('hybrid', 0, { freeUnits: 5 }), null],
    ['hybrid, overage', plan('hybrid', 0, { limit: 100, freeUnits: 5, ...overage(50) }), 155],
    ['hybrid, free overage', plan('hybrid', 0, { limit: 100, ...overage() }), null],
    ['hybrid, overage 0', plan('hybrid', 0, { limit: 100, ...overage(0) }), null],
    ['one-time, limit', plan('one-time', 9, { limit: 2, limits: { maxTransactions: 8 } }), 2],
    ['one-time, transactions', plan('one-time', 9, { limits: { maxTransactions: 8 } }), 8],
    ['one-time, nonsense', plan('one-time', 9, { limits: { maxTransactions: '8' } }), null],
    ['fractional', plan('recurring', 0, { limit: 0.5 }), 0.5],
  ])('returns the cap of %s', (_name, given, units) => {
    expect(effectiveCap(given)).toBe(units === null ? null : BigInt(units * 1_000_000))
  })

  it('adds carried-over units to a cap', () => {
    expect(effectiveCap(plan('recurring', 100, { limit: 1000 }), 400_000_000n)).toBe(1_400_000_000n)
    expect(effectiveCap(plan('recurring', 100, {}), 400_000_000n)).toBeNull()
  })
})
