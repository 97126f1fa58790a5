import { describe, expect, it } from 'vitest'
import type { PlanTerms } from '../plans/plan.ts'
import { farFuture } from './compile-entitlement.ts'
import { purchaseUsage, usageSummary, userUsage } from './usage-view.ts'

const plan = (terms: PlanTerms, meterRef: string | null = null) => ({
  type: 'recurring' as const,
  priceMinor: 100,
  basePriceMinor: null,
  meterRef,
  terms,
})
const units = (count: number) => BigInt(count * 1_000_000)

describe('purchaseUsage', () => {
  const period = {
    index: 0,
    start: new Date('2025-01-01T00:00:00Z'),
    end: new Date('2025-02-01T00:00:00Z'),
  }
  it.each([
    [{ limit: 10 }, 9.5, 0],
    [{ limit: 10 }, 12.25, 2.25],
    [{ limit: 0 }, 12, 0],
    [{}, 12, 0],
  ])('of %j with %d used is %d over', (terms, used, overageUnits) => {
    expect(purchaseUsage(plan(terms), units(used), period)).toEqual({
      used,
      overageUnits,
      overageCost: 0,
      periodStart: '2025-01-01T00:00:00.000Z',
      periodEnd: '2025-02-01T00:00:00.000Z',
    })
  })

  it('shows no end of a period that has none', () => {
    const endless = { ...period, end: farFuture }
    expect(purchaseUsage(plan({}), units(1), endless)).not.toHaveProperty('periodEnd')
  })
})

describe('userUsage', () => {
  it.each([
    [1000, 250, { remaining: 750, percentUsed: 25 }],
    [3, 1, { remaining: 2, percentUsed: 33.33 }],
    [3, 2, { remaining: 1, percentUsed: 66.67 }],
    [200, 0.01, { remaining: 199.99, percentUsed: 0.01 }],
    [10, 15, { remaining: 0, percentUsed: 100 }],
  ])('of %d with %d used', (limit, used, expected) => {
    expect(userUsage(plan({ limit }, 'mtr_A'), units(used))).toEqual({
      total: limit,
      used,
      meterRef: 'mtr_A',
      ...expected,
    })
  })

  it('says without a cap what a limit check says', () => {
    expect(userUsage(plan({}), units(5))).toEqual({ total: 999_999, used: 5, remaining: 999_999 })
  })
})

describe('usageSummary', () => {
  it.each([
    [undefined, 'No active subscription'],
    [{ total: 0, used: 0, remaining: 0 }, 'Active subscription: Reports'],
    [
      { total: 4, used: 1, remaining: 3, percentUsed: 25 },
      'Active subscription: Reports (25% usage consumed)',
    ],
  ])('of %j', (usage, text) => {
    expect(usageSummary('Reports', usage)).toBe(text)
  })
})
