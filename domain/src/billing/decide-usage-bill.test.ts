import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { newTrialPurchase, newUnpaidPurchase } from '../purchases/new-purchase.ts'
import type { Purchase } from '../purchases/repository.ts'
import { decideUsageBill } from './decide-usage-bill.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const delays = { graceMs: hourMs, lateMs: 30 * dayMs }

const customer = {
  reference: 'cus_a',
  email: 'a@example.com',
  name: null,
  telephone: null,
  locale: null,
  externalRef: null,
  status: 'active',
  metadata: {},
  testClockRef: null,
  createdAt: new Date(0),
  updatedAt: new Date(0),
} as const

function planOf(terms: PlanSnapshot['terms']): PlanSnapshot {
  return {
    reference: 'pln_A',
    name: 'Metered',
    type: 'usage-based',
    priceMinor: 0,
    basePriceMinor: null,
    setupFeeMinor: null,
    currency: 'USD',
    meterRef: 'mtr_A',
    terms: { billingModel: 'post-paid', creditsPerUnit: 1, ...terms },
  }
}

function bought(terms: PlanSnapshot['terms'], now: Date): Purchase {
  const given = {
    customer,
    product: { reference: 'prd_A', name: 'API' },
    plan: planOf(terms),
    cycleMode: 'calendar',
    now,
  } as const
  return terms.trialDays === undefined
    ? newUnpaidPurchase({ ...given, origin: 'manual' })
    : { ...newTrialPurchase(given), status: 'active' }
}

/** Applies all decisions that are due for the purchase at `now`, one after the other. */
function billedUntil(purchase: Purchase, now: Date): { periods: [Date, Date][]; last: Purchase } {
  const periods: [Date, Date][] = []
  for (let last = purchase; ;) {
    const decision = decideUsageBill(last, now, delays)
    if (decision.kind === 'nothing' || decision.kind === 'wait') return { periods, last }
    if (decision.kind === 'bill') periods.push([decision.period.start, decision.period.end])
    if (periods.length > 2_000) throw new Error('it comes to no end')
    last = { ...last, ...decision.billingDates }
  }
}

const starts = fc
  .integer({ min: Date.UTC(2024, 0, 1), max: Date.UTC(2028, 11, 31) })
  .map((ms) => new Date(ms))
const terms = fc.record({
  billingCycle: fc.constantFrom('weekly', 'monthly', 'quarterly', 'yearly', 'custom'),
  billingCycleDays: fc.integer({ min: 1, max: 45 }),
})
const trials = fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined })

describe('decideUsageBill', () => {
  test('bills an ended purchase in adjacent periods, from its anchor to its end', () => {
    fc.assert(
      fc.property(
        starts,
        terms,
        trials,
        fc.integer({ min: 1, max: 500 * dayMs }),
        fc.boolean(),
        fc.boolean(),
        (start, given, trialDays, lastedMs, wasNeverNoted, isOverdue) => {
          const plan = trialDays === undefined ? given : { ...given, trialDays }
          const purchase = bought(plan, start)
          const endedAt = new Date(start.getTime() + lastedMs)
          const noted = wasNeverNoted ? purchase.startDate : purchase.nextUsageBillAt
          const ended = { ...purchase, nextUsageBillAt: noted, endedAt }
          const graceEnd = new Date(endedAt.getTime() + delays.graceMs)
          // Bills at `midway` and again after the end, or only after the end if billing is overdue.
          const midway = new Date(start.getTime() + lastedMs / 2)
          const early = isOverdue
            ? { periods: [], last: ended }
            : billedUntil({ ...ended, endedAt: null }, midway)
          const { periods: rest, last } = billedUntil({ ...early.last, endedAt }, graceEnd)
          const periods = [...early.periods, ...rest]
          if (endedAt <= purchase.anchor) {
            expect(periods).toEqual([])
            return
          }
          expect(periods[0]?.[0]).toEqual(purchase.anchor)
          expect(periods.at(-1)?.[1]).toEqual(endedAt)
          for (const [index, [from, to]] of periods.entries()) {
            expect(from.getTime()).toBeLessThan(to.getTime())
            if (index > 0) expect(from).toEqual(periods[index - 1]![1])
          }
          const closesAt = new Date(graceEnd.getTime() + delays.lateMs)
          expect(last).toMatchObject({ nextUsageBillAt: null, usageClosesAt: closesAt })
          const closing = decideUsageBill(last, closesAt, delays)
          expect(closing.kind).toBe('close')
          const before = new Date(closesAt.getTime() - 1)
          expect(decideUsageBill(last, before, delays).kind).toBe('wait')
        },
      ),
    )
  })

  test('bills a period once its end and the grace time have passed, to the millisecond', () => {
    const purchase = bought({ billingCycle: 'monthly' }, new Date('2026-01-31T12:00:00Z'))
    const due = new Date('2026-02-28T13:00:00Z')
    const before = new Date(due.getTime() - 1)
    expect(decideUsageBill(purchase, before, delays)).toEqual({ kind: 'wait' })
    expect(decideUsageBill(purchase, due, delays)).toMatchObject({
      kind: 'bill',
      period: { start: purchase.anchor, end: new Date('2026-02-28T12:00:00Z') },
      billingDates: { nextUsageBillAt: new Date('2026-03-31T12:00:00Z') },
    })
  })

  test('ends the last period at the end date of a purchase whose end is not recorded yet', () => {
    const purchase = bought({ billingCycle: 'monthly' }, new Date('2026-01-31T12:00:00Z'))
    const endDate = new Date('2026-02-28T12:00:00Z')
    const lapsed = { ...purchase, endDate }
    const decision = decideUsageBill(lapsed, new Date('2026-03-01T00:00:00Z'), delays)
    expect(decision).toMatchObject({ kind: 'bill', billingDates: { nextUsageBillAt: null } })
  })

  test('bills a purchase without a cycle as one period, from its beginning to its end', () => {
    const purchase = bought({}, new Date('2026-01-31T12:00:00Z'))
    const later = new Date('2027-01-31T12:00:00Z')
    expect(billedUntil(purchase, later).periods).toEqual([])
    const endedAt = new Date('2026-11-05T00:00:00.250Z')
    expect(billedUntil({ ...purchase, endedAt }, later).periods).toEqual([
      [purchase.anchor, endedAt],
    ])
  })

  test('never bills usage of a pre-paid plan', () => {
    const purchase = bought({ billingCycle: 'monthly' }, new Date('2026-01-31T12:00:00Z'))
    const prePaid = { ...purchase.planSnapshot!, terms: { billingModel: 'pre-paid' } as const }
    const { periods, last } = billedUntil(
      { ...purchase, planSnapshot: prePaid },
      new Date('2027-01-01T00:00:00Z'),
    )
    expect(periods).toEqual([])
    expect(last).toMatchObject({ nextUsageBillAt: null, usageClosesAt: null })
  })
})
