import { billingCycles } from '@tollgate/schemas/http/plan-terms'
import { windowId } from '@tollgate/schemas/hot-state/documents'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PlanTerms } from '../plans/plan.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { compileEntitlement, farFuture, purchasePeriodAt } from './compile-entitlement.ts'
import { countingWindows, currentPeriod } from './counting-windows.ts'

const second = (text: string) => Date.parse(text) / 1000

const plan = (terms: PlanTerms, more: Partial<PlanSnapshot> = {}): PlanSnapshot => ({
  reference: 'pln_A',
  name: 'Pro',
  type: 'recurring',
  priceMinor: 0,
  basePriceMinor: null,
  setupFeeMinor: null,
  currency: 'USD',
  meterRef: null,
  terms,
  ...more,
})

const purchase = (anchor: string, endDate: string | null = null) => ({
  reference: 'pur_A',
  customerRef: 'cus_a',
  anchor: new Date(anchor),
  cycleMode: 'calendar' as const,
  startDate: new Date(anchor),
  endDate: endDate === null ? null : new Date(endDate),
  suspendedAt: null,
  accessRestoredAt: null,
  carriedInto: null,
  allowance: null,
  firstIncludedMicros: null,
  carriedOverMicros: null,
})

const at = (now: string) => ({ now: new Date(now), customerRefs: ['cus_a', 'user-1'] })

describe('compileEntitlement', () => {
  it('publishes the previous period, the current one and the next 12', () => {
    const entitlement = compileEntitlement(
      purchase('2025-01-31T10:00:00Z'),
      plan({ billingCycle: 'monthly', limit: 10 }),
      at('2025-06-15T00:00:00Z'),
    )
    expect(entitlement).toMatchObject({
      customerRef: 'cus_a',
      purchaseRef: 'pur_A',
      planRef: 'pln_A',
      planType: 'recurring',
      endsAtMs: null,
      cap: '10000000',
      credit: null,
      customerRefs: ['cus_a', 'user-1'],
    })
    expect(entitlement.periods).toHaveLength(14)
    expect(entitlement.periods[1]).toEqual({
      startSecond: second('2025-05-31T10:00:00Z'),
      endSecond: second('2025-06-30T10:00:00Z'),
    })
  })

  it('extends the window of the first period only', () => {
    const early = compileEntitlement(
      purchase('2025-01-31T10:00:00Z'),
      plan({ billingCycle: 'monthly' }),
      at('2025-01-31T10:00:00Z'),
    )
    const start = second('2025-01-31T10:00:00Z')
    expect(countingWindows(early)[0]).toEqual({
      id: windowId('pur_A', start),
      fromSecond: start - 300,
      toSecond: second('2025-02-28T10:00:00Z'),
    })
    expect(countingWindows(early)[1]?.fromSecond).toBe(early.periods[1]?.startSecond)
  })

  it('publishes one period for a plan without a cycle, as long as the access lasts', () => {
    const forever = compileEntitlement(
      purchase('2025-01-01T00:00:00Z'),
      plan({}),
      at('2026-01-01T00:00:00Z'),
    )
    expect(forever.periods).toEqual([
      { startSecond: second('2025-01-01T00:00:00Z'), endSecond: farFuture.getTime() / 1000 },
    ])
    const ending = purchase('2025-01-01T00:00:00Z', '2025-03-01T00:00:00.500Z')
    const once = compileEntitlement(ending, plan({}), at('2025-01-01T00:00:00Z'))
    expect(once.periods[0]?.endSecond).toBe(second('2025-03-01T00:00:01Z'))
    expect(once.endsAtMs).toBe(Date.parse('2025-03-01T00:00:00.500Z'))
  })

  it('ends the last period with the purchase', () => {
    const entitlement = compileEntitlement(
      purchase('2025-01-01T00:00:00Z', '2025-02-15T00:00:00Z'),
      plan({ billingCycle: 'monthly' }),
      at('2025-01-10T00:00:00Z'),
    )
    expect(entitlement.periods.map(({ endSecond }) => endSecond)).toEqual([
      second('2025-02-01T00:00:00Z'),
      second('2025-02-15T00:00:00Z'),
    ])
  })

  it('publishes the credit price of a pre-paid plan', () => {
    const type = 'usage-based' as const
    const compile = (terms: PlanTerms) =>
      compileEntitlement(
        purchase('2025-01-01T00:00:00Z'),
        plan(terms, { type }),
        at('2025-01-01T00:00:00Z'),
      )
    expect(compile({ creditsPerUnit: 100 }).credit).toEqual({
      creditsPerUnit: 100,
      currency: 'USD',
    })
    expect(compile({ creditsPerUnit: 0 }).credit).toBeNull()
    expect(compile({ creditsPerUnit: 100, billingModel: 'post-paid' }).credit).toBeNull()
  })

  it('limits unbilled usage from the first billed period on, not in the trial before', () => {
    const asYouGo = plan(
      { billingCycle: 'monthly', billingModel: 'post-paid', maxUnbilledUnits: 12.5 },
      { type: 'usage-based' },
    )
    const tried = {
      ...purchase('2025-02-01T00:00:00Z'),
      startDate: new Date('2025-01-18T00:00:00Z'),
    }
    const entitlement = compileEntitlement(tried, asYouGo, at('2025-01-20T00:00:00Z'))
    const fromSecond = second('2025-02-01T00:00:00Z')
    expect(entitlement.unbilled).toEqual({ units: '12500000', isWidened: false, fromSecond })
    expect(entitlement.periods[0]!.startSecond).toBeLessThan(fromSecond)
    expect(entitlement.periods.some(({ startSecond }) => startSecond === fromSecond)).toBe(true)
  })

  it('always contains the instant it was compiled at, in windows without gap or overlap', () => {
    const anchors = fc.integer({ min: 0, max: 4_000_000_000 })
    fc.assert(
      fc.property(
        anchors,
        fc.nat(500_000_000),
        fc.option(fc.constantFrom(...billingCycles), { nil: undefined }),
        fc.constantFrom(0, 86_400, 14 * 86_400, 40 * 86_400),
        (anchorSecond, later, billingCycle, trialDaySeconds) => {
          // A plan without periods has no trial.
          const trialSeconds = billingCycle === undefined ? 0 : trialDaySeconds
          const now = new Date((anchorSecond + later) * 1000)
          const given = {
            ...purchase('2025-01-01T00:00:00Z'),
            anchor: new Date((anchorSecond + trialSeconds) * 1000),
            startDate: new Date(anchorSecond * 1000),
          }
          const terms = billingCycle === undefined ? {} : { billingCycle }
          const entitlement = compileEntitlement(given, plan(terms), { now, customerRefs: [] })
          const current = currentPeriod(entitlement, now.getTime())
          const shown = purchasePeriodAt(given, plan(terms), now)
          expect(current?.startSecond).toBe(shown.start.getTime() / 1000)
          const windows = countingWindows(entitlement)
          for (const [index, window] of windows.slice(1).entries()) {
            expect(window.fromSecond).toBe(windows[index]?.toSecond)
          }
        },
      ),
    )
  })
})

describe('currentPeriod', () => {
  const entitlement = compileEntitlement(
    purchase('2025-01-01T00:00:00Z', '2025-01-20T00:00:00Z'),
    plan({ billingCycle: 'weekly' }),
    at('2025-01-02T00:00:00Z'),
  )
  it.each([
    ['2024-12-31T23:59:59.999Z', undefined],
    ['2025-01-01T00:00:00.000Z', '2025-01-01T00:00:00Z'],
    ['2025-01-07T23:59:59.999Z', '2025-01-01T00:00:00Z'],
    ['2025-01-08T00:00:00.000Z', '2025-01-08T00:00:00Z'],
    ['2025-01-19T23:59:59.999Z', '2025-01-15T00:00:00Z'],
    ['2025-01-20T00:00:00.000Z', undefined],
  ])('returns for %s the period that starts at %s', (now, start) => {
    const expected = start === undefined ? undefined : second(start)
    expect(currentPeriod(entitlement, Date.parse(now))?.startSecond).toBe(expected)
  })
})
