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
const dollars = { currency: 'USD', unitsPerDollar: '1' }
const units = (count: number) => BigInt(count * 1_000_000)

describe('purchaseUsage', () => {
  const period = {
    index: 0,
    start: new Date('2025-01-01T00:00:00Z'),
    end: new Date('2025-02-01T00:00:00Z'),
  }
  it.each([
    [{ limit: 10 }, 9.5, 0, 0],
    [{ limit: 10 }, 12.25, 0, 2.25],
    [{ limit: 10 }, 12.25, 2, 0.25],
    [{ limit: 10 }, 12.25, 3, 0],
    [{ limit: 0 }, 12, 0, 0],
    [{}, 12, 0, 0],
  ])('counts overage of %j: %d used, %d carried, %d', (terms, used, carried, overageUnits) => {
    const counted = { usedMicros: units(used), carriedOverMicros: units(carried) }
    expect(purchaseUsage(plan(terms), counted, period, dollars)).toEqual({
      used,
      overageUnits,
      overageCost: 0,
      carriedOverUnits: carried,
      periodStart: '2025-01-01T00:00:00.000Z',
      periodEnd: '2025-02-01T00:00:00.000Z',
    })
  })

  it('omits the end of a period without one', () => {
    const endless = { ...period, end: farFuture }
    const counted = { usedMicros: units(1), carriedOverMicros: 0n }
    expect(purchaseUsage(plan({}), counted, endless, dollars)).not.toHaveProperty('periodEnd')
  })
})

describe('the overage cost', () => {
  const hybrid = {
    ...plan({
      limit: 1_000,
      creditsPerUnit: 50,
      overagePolicy: { allowOverage: true, overageRate: 80.5, maxOverage: 5_000 },
    }),
    type: 'hybrid' as const,
  }
  const period = { index: 0, start: new Date(0), end: farFuture }
  const cost = (used: number, carried = 0, more = {}, conversion = dollars) => {
    const counted = { usedMicros: units(used), carriedOverMicros: units(carried) }
    return purchaseUsage(hybrid, counted, { ...period, ...more }, conversion).overageCost
  }

  it.each([
    [1_000, 0, 0],
    // 80.5 credits are 0.805 cents. Half a cent or more is rounded up to 1 cent.
    [1_001, 0, 1],
    [3_500, 0, 2_013],
    [3_500, 400, 1_691],
    [9_000, 0, 4_025],
  ])('for %d units used and %d carried over is %d cents', (used, carried, cents) => {
    expect(cost(used, carried)).toBe(cents)
  })

  it('is in the currency of the purchase', () => {
    expect(cost(3_500, 0, {}, { currency: 'JPY', unitsPerDollar: '150' })).toBe(3_019)
  })

  it('is 0 in a trial, and without an exchange rate', () => {
    expect(cost(3_500, 0, { index: -1 })).toBe(0)
    const counted = { usedMicros: units(3_500), carriedOverMicros: 0n }
    expect(purchaseUsage(hybrid, counted, period, undefined).overageCost).toBe(0)
  })
})

describe('userUsage', () => {
  it('adds carried-over units to the total', () => {
    const rolling = plan({ limit: 100, rolloverUnusedUnits: true })
    const counted = { usedMicros: units(70), carriedOverMicros: units(40) }
    expect(userUsage(rolling, counted, units(140))).toEqual({
      total: 140,
      used: 70,
      remaining: 70,
      percentUsed: 50,
      carriedOverUnits: 40,
    })
  })

  it.each([
    [1000, 250, { remaining: 750, percentUsed: 25 }],
    [3, 1, { remaining: 2, percentUsed: 33.33 }],
    [3, 2, { remaining: 1, percentUsed: 66.67 }],
    [200, 0.01, { remaining: 199.99, percentUsed: 0.01 }],
    [10, 15, { remaining: 0, percentUsed: 100 }],
  ])('for a cap of %d with %d used, returns the remaining units', (limit, used, expected) => {
    const counted = { usedMicros: units(used), carriedOverMicros: 0n }
    expect(userUsage(plan({ limit }, 'mtr_A'), counted, units(limit))).toEqual({
      total: limit,
      used,
      meterRef: 'mtr_A',
      ...expected,
    })
  })

  it('returns the values of a limit check if the plan has no cap', () => {
    const counted = { usedMicros: units(5), carriedOverMicros: 0n }
    expect(userUsage(plan({}), counted, null)).toEqual({
      total: 999_999,
      used: 5,
      remaining: 999_999,
    })
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
  ])('for usage %j returns %j', (usage, text) => {
    expect(usageSummary('Reports', usage)).toBe(text)
  })
})
