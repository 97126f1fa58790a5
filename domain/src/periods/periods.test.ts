import { billingCycles } from '@tollgate/schemas/http/plan-terms'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { periodAt, periodIndexAt, periodOf, usagePeriodAt, wholeSecond } from './periods.ts'
import type { Cycle } from './periods.ts'

const cycles: fc.Arbitrary<Cycle> = fc.record({
  anchor: fc
    .oneof(
      fc.integer({ min: 0, max: 4_102_444_800 }),
      // Days at the end of a month, where boundaries are clamped.
      fc
        .tuple(fc.integer({ min: 1970, max: 2099 }), fc.nat(11), fc.integer({ min: 28, max: 31 }))
        .map(([year, month, day]) => Date.UTC(year, month, day, 23, 59, 59) / 1000),
    )
    .map((seconds) => new Date(seconds * 1000)),
  billingCycle: fc.constantFrom(...billingCycles),
  mode: fc.constantFrom('calendar' as const, 'fixed_days' as const),
  customDays: fc.option(fc.integer({ min: 1, max: 400 }), { nil: undefined }),
})

/** Returns a boundary by counting months in text, without the date arithmetic of the code under test. */
function boundaryByWalking(anchor: Date, months: number): string {
  const text = anchor.toISOString()
  let year = Number(text.slice(0, 4))
  let month = Number(text.slice(5, 7))
  for (let walked = 0; walked < months; walked++) {
    month++
    if (month === 13) {
      month = 1
      year++
    }
  }
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
  const day = Math.min(Number(text.slice(8, 10)), lengths[month - 1]!)
  const two = (part: number) => String(part).padStart(2, '0')
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}${text.slice(10)}`
}

const monthly = (anchor: string, more: Partial<Cycle> = {}): Cycle => ({
  anchor: new Date(anchor),
  billingCycle: 'monthly',
  mode: 'calendar',
  ...more,
})

describe('periodOf', () => {
  it.each([
    ['2025-01-31T10:00:00Z', 1, '2025-02-28T10:00:00.000Z'],
    ['2025-01-31T10:00:00Z', 2, '2025-03-31T10:00:00.000Z'],
    ['2024-01-31T10:00:00Z', 1, '2024-02-29T10:00:00.000Z'],
    ['2024-02-29T00:00:00Z', 1, '2024-03-29T00:00:00.000Z'],
    ['2024-02-29T00:00:00Z', 12, '2025-02-28T00:00:00.000Z'],
    ['2024-02-29T00:00:00Z', 48, '2028-02-29T00:00:00.000Z'],
    ['2025-10-27T08:30:00Z', 1, '2025-11-27T08:30:00.000Z'],
    ['2025-12-15T23:59:59Z', 1, '2026-01-15T23:59:59.000Z'],
    ['2025-03-31T00:00:00Z', -1, '2025-02-28T00:00:00.000Z'],
  ])('starts the period %s + %d months at %s', (anchor, index, start) => {
    expect(periodOf(monthly(anchor), index).start.toISOString()).toBe(start)
  })

  it.each([
    ['weekly', 'calendar', '2024-02-05T00:00:00.000Z'],
    ['monthly', 'calendar', '2024-02-29T00:00:00.000Z'],
    ['quarterly', 'calendar', '2024-04-29T00:00:00.000Z'],
    ['yearly', 'calendar', '2025-01-29T00:00:00.000Z'],
    ['custom', 'calendar', '2024-02-28T00:00:00.000Z'],
    ['weekly', 'fixed_days', '2024-02-05T00:00:00.000Z'],
    ['monthly', 'fixed_days', '2024-02-28T00:00:00.000Z'],
    ['quarterly', 'fixed_days', '2024-04-28T00:00:00.000Z'],
    ['yearly', 'fixed_days', '2025-01-28T00:00:00.000Z'],
  ] as const)('ends the first %s period (%s) at %s', (billingCycle, mode, end) => {
    const cycle = monthly('2024-01-29T00:00:00Z', { billingCycle, mode })
    expect(periodOf(cycle, 0).end.toISOString()).toBe(end)
  })

  it('takes a custom length', () => {
    const cycle = monthly('2025-01-01T00:00:00Z', { billingCycle: 'custom', customDays: 10 })
    expect(periodOf(cycle, 3).start.toISOString()).toBe('2025-01-31T00:00:00.000Z')
  })

  it('agrees with a step-by-step model of the calendar', () => {
    const months = { monthly: 1, quarterly: 3, yearly: 12 } as const
    const names = fc.constantFrom('monthly', 'quarterly', 'yearly')
    fc.assert(
      fc.property(cycles, names, fc.nat(300), (cycle, billingCycle, index) => {
        const { start } = periodOf({ ...cycle, billingCycle, mode: 'calendar' }, index)
        const walked = boundaryByWalking(cycle.anchor, index * months[billingCycle])
        expect(start.toISOString()).toBe(walked)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('the periods of any anchor', () => {
  const index = fc.integer({ min: -200, max: 1500 })

  it('follow each other without gap or overlap', () => {
    fc.assert(
      fc.property(cycles, index, (cycle, at) => {
        const period = periodOf(cycle, at)
        expect(period.end.getTime()).toBe(periodOf(cycle, at + 1).start.getTime())
        expect(period.start.getTime()).toBeLessThan(period.end.getTime())
        expect(Math.abs(period.start.getTime() % 1000)).toBe(0)
      }),
      { numRuns: 2000 },
    )
  })

  it('contain exactly the instants from their start to their end', () => {
    fc.assert(
      fc.property(cycles, index, fc.double({ min: 0, max: 1, noNaN: true }), (cycle, at, part) => {
        const { start, end } = periodOf(cycle, at)
        const length = end.getTime() - start.getTime()
        const inside = new Date(start.getTime() + Math.min(Math.floor(length * part), length - 1))
        expect(periodIndexAt(cycle, inside)).toBe(at)
        expect(periodIndexAt(cycle, start)).toBe(at)
        expect(periodIndexAt(cycle, new Date(end.getTime() - 1))).toBe(at)
        expect(periodIndexAt(cycle, end)).toBe(at + 1)
      }),
      { numRuns: 2000 },
    )
  })

  it('begin at the anchor', () => {
    fc.assert(
      fc.property(cycles, (cycle) => {
        expect(periodAt(cycle, cycle.anchor)).toMatchObject({ index: 0, start: cycle.anchor })
      }),
    )
  })
})

describe('usagePeriodAt', () => {
  const cycle = monthly('2025-01-31T00:00:00Z')
  const days = (start: string, at: string) => {
    const period = usagePeriodAt(cycle, new Date(start), new Date(at))
    return [period.start, period.end].map((bound) => bound.toISOString().slice(0, 10))
  }

  it.each([
    ['2025-01-31', '2025-03-01', ['2025-02-28', '2025-03-31']],
    ['2025-01-31', '2025-01-30', ['2025-01-31', '2025-02-28']],
    ['2025-01-17', '2025-01-30', ['2025-01-17', '2025-01-31']],
    ['2025-01-17', '2025-01-01', ['2025-01-17', '2025-01-31']],
    ['2025-01-17', '2025-01-31', ['2025-01-31', '2025-02-28']],
    ['2024-11-01', '2025-01-01', ['2024-11-01', '2025-01-31']],
  ])('returns the usage period of a purchase that starts on %s for %s', (start, at, bounds) => {
    expect(days(start, at)).toEqual(bounds)
  })
})

describe('wholeSecond', () => {
  it('drops the fraction, also before 1970', () => {
    expect(wholeSecond(new Date(1999)).getTime()).toBe(1000)
    expect(wholeSecond(new Date(-1)).getTime()).toBe(-1000)
  })
})
