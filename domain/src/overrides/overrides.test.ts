import type { Charge } from '@tollgate/schemas/http/charges'
import { overrideVersionsMax } from '@tollgate/schemas/limits'
import { describe, expect, test } from 'vitest'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { applyOverrides } from './apply-overrides.ts'
import { nextHistory } from './next-history.ts'
import type { Overrides, OverridesVersion } from './overrides.ts'
import { planInPeriod, planOfNextPeriod, planToBill } from './overridden-plan.ts'

const tokens: Charge = {
  ...{ key: 'tokens', meter: 'tokens', model: 'per_unit', per: 'period', price: '3' },
  ...{ included: 100, cap: 1_000 },
}
const images: Charge = {
  ...{ key: 'images', meter: 'images', model: 'matrix', per: 'period', price: '4' },
  rows: [
    { when: { model: 'large' }, price: '8' },
    { when: { model: 'small' }, price: '2' },
  ],
}
const plan: PlanSnapshot = {
  ...{ reference: 'pln_1', name: 'Pro', currency: 'USD', meterRef: null, setupFeeMinor: null },
  ...{ type: 'hybrid', priceMinor: 0, basePriceMinor: null },
  terms: {
    charges: [tokens, images],
    usageLimits: [
      { meter: 'tokens', cap: 60, per: 'hour' },
      { key: 'daily', meter: 'tokens', cap: 500, per: 'day' },
    ],
  },
}

const none: Overrides = { charges: [], usageLimits: [] }

function applied(overrides: Partial<Overrides>, to = plan) {
  const own = { ...none, ...overrides }
  return applyOverrides(to, { pricing: own, limiting: own })
}

describe('overrides of a plan', () => {
  test('replace only the fields that they have', () => {
    const rows = [{ when: { model: 'large' }, price: '7' }]
    const charges = [
      { charge: 'tokens', price: '2', cap: 0 },
      { charge: 'images', rows },
    ]
    const { plan: own, faults } = applied({ charges })
    expect(faults).toEqual([])
    expect(own.terms.charges).toEqual([
      { ...tokens, price: '2', cap: 0 },
      { ...images, rows: [rows[0], images.rows![1]] },
    ])
  })

  test('replace the limit with the same key and add the others', () => {
    const usageLimits = [
      { key: 'daily', meter: 'images', cap: 9, per: 'week' as const },
      { meter: 'images', cap: 3, per: 'day' as const },
    ]
    expect(applied({ usageLimits }).plan.terms.usageLimits).toEqual([
      { meter: 'tokens', cap: 60, per: 'hour' },
      ...usageLimits,
    ])
  })

  test('remove the limit with the same key, given or made of meter and window', () => {
    const limitsWithout = (...keys: string[]) =>
      applied({ usageLimits: keys.map((key) => ({ key, cap: null })) }).plan.terms.usageLimits
    const [hourly, daily] = plan.terms.usageLimits!
    expect(limitsWithout('daily')).toEqual([hourly])
    expect(limitsWithout('tokens-hour')).toEqual([daily])
    expect(limitsWithout('daily', 'tokens-hour')).toEqual([])
    expect(limitsWithout('tokens')).toEqual([hourly, daily])
  })

  test.each([
    [{ charge: 'tokens', creditsPerUnit: '1' }, 'creditsPerUnit'],
    [{ charge: 'tokens', tiers: [{ upTo: null, price: '1' }] }, 'tiers'],
    [{ charge: 'images', cap: 5 }, 'cap'],
    [{ charge: 'images', included: 5 }, 'included'],
    [{ charge: 'images', rows: [{ when: { model: 'tiny' }, price: '1' }] }, 'rows'],
  ])('without an effect on the charge are reported: %o', (override, field) => {
    const { plan: own, faults } = applied({ charges: [override] })
    expect(own.terms.charges).toEqual(plan.terms.charges)
    expect(faults.map(({ path }) => path)).toEqual([['charges', 0, field]])
  })

  test('keep a cap that fits if the price does not fit', () => {
    const { plan: own } = applied({ charges: [{ charge: 'tokens', creditsPerUnit: '1', cap: 7 }] })
    expect(own.terms.charges![0]).toEqual({ ...tokens, cap: 7 })
  })

  test('may cap a customer below the included units', () => {
    expect(applied({ charges: [{ charge: 'tokens', cap: 50 }] }).faults).toEqual([])
  })

  test('have no effect on a plan without charges', () => {
    const plain: PlanSnapshot = { ...plan, terms: { limit: 5 } }
    const usageLimits = [{ meter: 'requests', cap: 1, per: 'day' as const }]
    expect(applied({ charges: [{ charge: 'tokens', cap: 1 }], usageLimits }, plain).plan).toBe(
      plain,
    )
  })
})

describe('versions', () => {
  const at = (time: string) => new Date(`2026-03-${time}Z`)
  const change = (history: readonly OverridesVersion[], time: string, price: string, cap: number) =>
    nextHistory(
      history,
      { charges: [{ charge: 'tokens', price, cap }], usageLimits: [] },
      at(time),
    )!

  test('price a period by its beginning, limit at once, and bill up to the highest cap', () => {
    const first = change([], '05T00:00:00', '2', 400)
    const overrides = change(first, '20T00:00:00', '1', 900)
    const since = at('01T00:00:00')
    const purchase = {
      ...{ startDate: since, anchor: since, cycleMode: 'calendar' as const },
      firstIncludedMicros: null,
    }
    const march = { start: at('10T00:00:00'), end: at('30T00:00:00') }
    const charge = (of: PlanSnapshot) => of.terms.charges![0]
    expect(charge(planInPeriod(plan, { ...purchase, overrides }, march.start))).toMatchObject({
      ...{ price: '2', cap: 900 },
    })
    expect(charge(planOfNextPeriod(plan, { overrides }))).toMatchObject({ price: '1', cap: 900 })
    expect(charge(planToBill(plan, { ...purchase, overrides }, march))).toMatchObject({
      price: '2',
      cap: 900,
    })
    // Both caps were in force, and the plan's own was not.
    const lower = change(overrides, '25T00:00:00', '1', 100)
    expect(charge(planToBill(plan, { ...purchase, overrides: lower }, march))).toMatchObject({
      cap: 900,
    })
    const before = { start: at('01T00:00:00'), end: at('05T00:00:00') }
    expect(charge(planToBill(plan, { ...purchase, overrides: lower }, before))).toEqual(tokens)
  })

  test('replace each other within one second, and stay in order if a clock is behind', () => {
    const first = change([], '05T00:00:00.100', '2', 1)
    const second = change(first, '05T00:00:00.900', '1', 1)
    expect(second).toMatchObject([{ since: '2026-03-05T00:00:00.000Z', charges: [{ price: '1' }] }])
    const third = change(second, '04T00:00:00', '3', 1)
    expect(third).toMatchObject([{ since: '2026-03-05T00:00:00.000Z', charges: [{ price: '3' }] }])
    expect(change(third, '06T00:00:00', '3', 1)).toBe(third)
  })

  test('are limited, and those that no bill needs make room', () => {
    let history: readonly OverridesVersion[] = []
    for (let day = 0; day < overrideVersionsMax; day += 1) {
      history = nextHistory(
        history,
        { charges: [{ charge: 'tokens', cap: day + 1 }], usageLimits: [] },
        new Date(day * 86_400_000),
      )!
    }
    expect(history).toHaveLength(overrideVersionsMax)
    const next: Overrides = { charges: [], usageLimits: [] }
    expect(nextHistory(history, next, new Date(overrideVersionsMax * 86_400_000))).toBeUndefined()
    const later = nextHistory(history, next, new Date(11 * 366 * 86_400_000))
    expect(later).toHaveLength(2)
  })
})
