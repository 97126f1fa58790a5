import { describe, expect, it } from 'vitest'
import { decideCancel } from './decide-cancel.ts'
import { newTrialPurchase, newUnpaidPurchase } from './new-purchase.ts'
import { buyer, snapshotOfPlan, soldProduct } from '../../test/bought-plans.ts'
import { datesBeforeCancel } from './reactivate-purchase.ts'
import type { Purchase } from './repository.ts'

const start = new Date('2026-01-01T00:00:00Z')
const trialEnd = new Date('2026-01-15T00:00:00Z')
const nextDay = new Date('2026-01-02T00:00:00Z')

function given(autoRenew: boolean) {
  const plan = snapshotOfPlan('pln_A', 1_900, { trialDays: 14, autoRenew })
  const cycleMode = 'calendar'
  return { customer: buyer, product: soldProduct, plan, cycleMode, now: start } as const
}

const bought = (autoRenew: boolean): Purchase =>
  newUnpaidPurchase({ ...given(autoRenew), origin: 'paid' })

function cancelled(purchase: Purchase, now: Date): Purchase {
  const decision = decideCancel(purchase, now)
  if (decision.kind !== 'schedule') throw new Error(`the cancellation was to ${decision.kind}`)
  const { endDate } = decision
  return { ...purchase, cancelledAt: now, endDate, autoRenew: false, nextBillingDate: null }
}

describe('decideCancel', () => {
  it.each([true, false])('ends a trial at its end, whether the plan renews: %s', (autoRenew) => {
    const decision = decideCancel(newTrialPurchase(given(autoRenew)), nextDay)
    expect(decision).toEqual({ kind: 'schedule', endDate: trialEnd, renewsAt: null })
  })

  it('ends a purchase whose renewal is due at once, even if it began with a trial', () => {
    const converted: Purchase = {
      ...newTrialPurchase(given(true)),
      status: 'active',
      nextBillingDate: new Date('2026-02-15T00:00:00Z'),
    }
    expect(decideCancel(converted, new Date('2026-02-15T05:00:00Z'))).toEqual({ kind: 'end-now' })
  })
})

describe('decideCancel, with a notice of 7 days', () => {
  const periodEnd = new Date('2026-02-01T00:00:00Z')
  const noticed = (days: number, fields: Partial<Purchase> = {}): Purchase => {
    const purchase = { ...bought(true), status: 'active', amountMinor: 1_900 } as const
    const { planSnapshot, ...rest } = purchase
    const terms = { ...planSnapshot!.terms, cancellationNoticeDays: days }
    return { ...rest, planSnapshot: { ...planSnapshot!, terms }, ...fields }
  }

  it.each([
    ['in time', 7, '2026-01-20T00:00:00Z', '2026-02-01T00:00:00Z'],
    ['at the last moment', 7, '2026-01-25T00:00:00Z', '2026-02-01T00:00:00Z'],
    ['a millisecond too late', 7, '2026-01-25T00:00:00.001Z', '2026-03-01T00:00:00Z'],
    ['on the last day', 7, '2026-01-31T23:00:00Z', '2026-03-01T00:00:00Z'],
    ['while the renewal is due', 7, '2026-02-01T05:00:00Z', '2026-03-01T00:00:00Z'],
    ['with a notice longer than a period', 40, '2026-01-10T00:00:00Z', '2026-03-01T00:00:00Z'],
  ])('ends a purchase that is cancelled %s with the right period', (_, days, at, end) => {
    const endDate = new Date(end)
    const renewsAt = endDate > periodEnd ? periodEnd : null
    expect(decideCancel(noticed(days), new Date(at))).toEqual({
      kind: 'schedule',
      endDate,
      renewsAt,
    })
  })

  it('charges no further period of a trial or of a plan that does not renew', () => {
    const late = new Date('2026-01-31T00:00:00Z')
    const trial = noticed(7, { status: 'trialing' })
    expect(decideCancel(trial, late)).toMatchObject({ renewsAt: null })
    const ending = noticed(7, { autoRenew: false, nextBillingDate: null, endDate: periodEnd })
    expect(decideCancel(ending, late)).toEqual({
      ...{ kind: 'schedule', endDate: periodEnd, renewsAt: null },
    })
  })

  it('keeps the next billing date for a withdrawn cancellation', () => {
    const purchase = noticed(7)
    const late = new Date('2026-01-31T00:00:00Z')
    const decision = decideCancel(purchase, late)
    if (decision.kind !== 'schedule') throw new Error(decision.kind)
    const { endDate, renewsAt: nextBillingDate } = decision
    const ending = { ...purchase, cancelledAt: late, endDate, nextBillingDate }
    expect(datesBeforeCancel(ending)).toEqual({
      ...{ autoRenew: true, nextBillingDate: periodEnd, endDate: null },
    })
  })
})

describe('datesBeforeCancel', () => {
  it.each([
    ['a plan that renews', bought(true)],
    ['a plan that does not renew', bought(false)],
    ['the trial of a plan that renews', newTrialPurchase(given(true))],
    ['the trial of a plan that does not renew', newTrialPurchase(given(false))],
  ])('restores the dates of %s', (_, purchase) => {
    const { autoRenew, nextBillingDate, endDate } = purchase
    const before = { autoRenew, nextBillingDate, endDate }
    expect(datesBeforeCancel(cancelled(purchase, nextDay))).toEqual(before)
  })
})
