import { describe, expect, it, test } from 'vitest'
import { boughtPlan, snapshotOfPlan as planOf } from '../../test/bought-plans.ts'
import { decideActivation } from './decide-activation.ts'
import { decideCancel } from './decide-cancel.ts'
import { decideDueRenewal } from './decide-renewal.ts'
import { decideChange } from './decide-switch.ts'
import { offeredPlan } from '../overrides/priced-plan.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import type { Purchase } from './repository.ts'
import { canStartTrial } from '../billing/start-trial.ts'

/* A plan with a notice of 7 days, bought on 1 June. It can be left for a cheaper plan when a cancellation would end it. */

const product = { reference: 'prd_A', name: 'API', status: 'active' }

const start = new Date('2026-06-01T00:00:00Z')
const july = new Date('2026-07-01T00:00:00Z')
const august = new Date('2026-08-01T00:00:00Z')
const inTime = new Date('2026-06-11T00:00:00Z')
const late = new Date('2026-06-28T00:00:00Z')

const pro = planOf('pro', 4_900, { cancellationNoticeDays: 7 })

const holding = (plan: PlanSnapshot, fields: Partial<Purchase> = {}) =>
  boughtPlan(plan, start, fields)
const held = holding(pro)

function changeTo(plan: PlanSnapshot, at: Date, from = held, currency?: string) {
  return decideChange({ held: from, plan, isFirstCharge: false, currency, at })
}

const cheaper: [string, PlanSnapshot][] = [
  ['a cheaper plan', planOf('small', 1_900)],
  ['a free plan', planOf('free', 0)],
  ['a cheaper plan with a price at once', planOf('full', 1_900, { prorationPolicy: 'full' })],
  ['a cheaper plan at the renewal', planOf('none', 1_900, { prorationPolicy: 'none' })],
  ['a plan of the same price without a notice', planOf('other', 4_900)],
  ['a cheaper hybrid plan', planOf('mixed', 0, {}, { type: 'hybrid', basePriceMinor: 900 })],
]

describe.each(cheaper)('a change to %s', (_, plan) => {
  it.each([
    ['in time', inTime, july],
    ['within the notice', late, august],
    ['while the renewal is due', new Date('2026-07-01T05:00:00Z'), august],
  ])(
    'starts, if requested %s, when a cancellation would end the current plan',
    (_, at, startsAt) => {
      expect(changeTo(plan, at)).toMatchObject({ kind: 'at-renewal', change: { at: startsAt } })
      expect(decideCancel(held, at)).toMatchObject({ endDate: startsAt })
    },
  )

  it('is refused until the cancelled plan ends', () => {
    const cancelled = { ...held, cancelledAt: late, endDate: august }
    expect(changeTo(plan, late, cancelled)).toMatchObject({ kind: 'too-early', until: august })
    const lastPeriod = { ...cancelled, autoRenew: false, nextBillingDate: null }
    const inJuly = new Date('2026-07-20T00:00:00Z')
    expect(changeTo(plan, inJuly, lastPeriod)).toMatchObject({ kind: 'too-early', until: august })
  })
})

it.each([
  ['one-time', planOf('once', 900, {}, { type: 'one-time' })],
  ['usage-based', planOf('used', 900, {}, { type: 'usage-based' })],
  ['of another cycle', planOf('weekly', 900, { billingCycle: 'weekly' })],
  ['cheaper for its period', planOf('yearly', 9_900, { billingCycle: 'yearly' })],
  ['free, in another currency', planOf('euro', 0, {}, { currency: 'EUR' })],
  ['without a renewal', planOf('once', 900, { autoRenew: false })],
])('refuses a cheaper plan that is %s before a cancellation', (_, plan) => {
  expect(changeTo(plan, late)).toMatchObject({ kind: 'too-early', until: august })
  expect(changeTo(plan, inTime)).toMatchObject({ kind: 'too-early', until: july })
})

test('refuses a cheaper plan in another currency', () => {
  const price = { currency: 'EUR', price: 1_900 }
  const plan = planOf('small', 1_900, { pricingOptions: [price] })
  expect(changeTo(plan, late, held, 'EUR')).toMatchObject({ kind: 'too-early', until: august })
})

test('starts a plan at the same or a higher price at once', () => {
  const other = planOf('other', 4_900, { cancellationNoticeDays: 7 })
  expect(changeTo(other, late)).toMatchObject({ kind: 'now' })
  expect(changeTo(planOf('big', 9_900), late)).toMatchObject({ kind: 'now' })
})

describe('a plan whose price rises within the notice', () => {
  const ramp = [{ periods: 1, price: 0 }]
  const rising = holding(planOf('rising', 4_900, { cancellationNoticeDays: 7, ramp }))
  const middle = planOf('middle', 1_900)

  it('secures the price of the periods that a cancellation leaves to be paid', () => {
    expect(decideCancel(rising, late)).toMatchObject({ endDate: august })
    expect(changeTo(middle, late, rising)).toMatchObject({
      kind: 'at-renewal',
      change: { at: august },
    })
    expect(changeTo(planOf('big', 9_900), late, rising)).toMatchObject({ kind: 'own-period' })
  })

  it('can be left at once while the notice ends before the price rises', () => {
    expect(changeTo(middle, inTime, rising)).toMatchObject({ kind: 'own-period' })
  })
})

describe('a plan whose price falls within the notice', () => {
  const fallsAfter = (periods: number) =>
    offeredPlan(planOf('falling', 1_900, { ramp: [{ periods, price: 9_900 }] }), [], late)

  it('starts when a cancellation would end the plan before', () => {
    expect(changeTo(fallsAfter(1), late)).toMatchObject({
      kind: 'at-renewal',
      change: { at: august },
    })
  })

  it('starts at once while its price falls later', () => {
    expect(changeTo(fallsAfter(2), late)).toMatchObject({ kind: 'now' })
    expect(changeTo(fallsAfter(1), inTime)).toMatchObject({ kind: 'now' })
  })
})

test('lets customers leave plans without a notice, trials and past due purchases at once', () => {
  const small = planOf('small', 1_900)
  expect(changeTo(small, late, holding(planOf('plain', 4_900)))).toMatchObject({ kind: 'now' })
  for (const status of ['trialing', 'past_due'] as const) {
    expect(changeTo(small, late, { ...held, status })).toMatchObject({ kind: 'own-period' })
  }
})

test('does not let a trial replace a plan with a notice', () => {
  const input = {
    ...{ lastOfPlan: undefined, isFirstCharge: true, isSoldOut: false, hasDebts: false },
    ...{ hasCard: true, now: late, last: held },
    product: product as Parameters<typeof canStartTrial>[0]['product'],
  }
  const big = planOf('big', 99_000, { billingCycle: 'yearly', trialDays: 14 })
  const offered = { ...big, status: 'active', hidden: false } as Parameters<
    typeof canStartTrial
  >[0]['plan']
  expect(decideActivation({ ...input, plan: offered })).toMatchObject({ kind: 'payment-required' })
  expect(canStartTrial({ ...input, plan: offered })).toBe(false)
  const unbound = { ...input, last: holding(planOf('plain', 4_900)) }
  expect(canStartTrial({ ...unbound, plan: offered })).toBe(true)
})

describe('a scheduled change', () => {
  const small = planOf('small', 1_900)
  const waiting = { ...held, scheduledPlan: small, scheduledPlanAt: august }

  it('renews the current plan until then', () => {
    expect(decideDueRenewal(waiting, july)).toMatchObject({
      kind: 'charge',
      period: { start: july },
    })
    const renewed = { ...waiting, nextBillingDate: august }
    expect(decideDueRenewal(renewed, august)).toMatchObject({ kind: 'change', plan: small })
  })

  it('starts with the next renewal if an older version stored it without a date', () => {
    const stored = { ...waiting, scheduledPlanAt: null }
    expect(decideDueRenewal(stored, july)).toMatchObject({ kind: 'change', plan: small })
  })

  it('counts as the notice, which neither another cheaper plan nor a cancellation postpones', () => {
    const inTimeNoted = { ...held, scheduledPlan: small, scheduledPlanAt: july }
    const free = planOf('free', 0)
    expect(changeTo(free, late, inTimeNoted)).toMatchObject({ change: { at: july } })
    const ends = { kind: 'schedule', endDate: july, renewsAt: null }
    expect(decideCancel(inTimeNoted, late)).toEqual(ends)
  })

  it('by the provider does not count as a notice of the customer', () => {
    const provided = {
      ...{ ...held, scheduledPlan: small, scheduledPlanAt: july },
      isScheduledByProvider: true,
    }
    expect(decideCancel(provided, late)).toMatchObject({ endDate: august, renewsAt: july })
  })

  it('to a more expensive plan does not count as a notice', () => {
    const big = planOf('big', 9_900)
    const dearer = { ...held, scheduledPlan: big, scheduledPlanAt: july }
    expect(changeTo(small, late, dearer)).toMatchObject({ change: { at: august } })
    expect(decideCancel(dearer, late)).toMatchObject({ endDate: august, renewsAt: july })
  })
})
