import { describe, expect, it } from 'vitest'
import { decideCancel } from './decide-cancel.ts'
import { trialPurchase, unpaidPurchase } from './new-purchase.ts'
import type { PlanSnapshot } from './plan-snapshot.ts'
import { datesBeforeCancel } from './reactivate-purchase.ts'
import type { Purchase } from './repository.ts'

const start = new Date('2026-01-01T00:00:00Z')
const trialEnd = new Date('2026-01-15T00:00:00Z')
const nextDay = new Date('2026-01-02T00:00:00Z')

function given(autoRenew: boolean) {
  const plan: PlanSnapshot = {
    reference: 'pln_A',
    name: 'Paid',
    type: 'recurring',
    priceMinor: 1_900,
    basePriceMinor: null,
    setupFeeMinor: null,
    currency: 'USD',
    meterRef: null,
    terms: { billingCycle: 'monthly', trialDays: 14, autoRenew },
  }
  const customer = { reference: 'cus_a', email: 'a@example.com' } as never
  const product = { reference: 'prd_A', name: 'API' }
  return { customer, product, plan, cycleMode: 'calendar', now: start } as const
}

const bought = (autoRenew: boolean): Purchase =>
  unpaidPurchase({ ...given(autoRenew), origin: 'paid' })

function cancelled(purchase: Purchase, now: Date): Purchase {
  const decision = decideCancel(purchase, now)
  if (decision.kind !== 'schedule') throw new Error(`the cancellation was to ${decision.kind}`)
  const { endDate } = decision
  return { ...purchase, cancelledAt: now, endDate, autoRenew: false, nextBillingDate: null }
}

describe('a cancellation', () => {
  it.each([true, false])('of a trial ends it with the trial, renewing: %s', (autoRenew) => {
    const decision = decideCancel(trialPurchase(given(autoRenew)), nextDay)
    expect(decision).toEqual({ kind: 'schedule', endDate: trialEnd })
  })

  it('gives no period to whom a renewal is due, also when all began with a trial', () => {
    const converted: Purchase = {
      ...trialPurchase(given(true)),
      status: 'active',
      nextBillingDate: new Date('2026-02-15T00:00:00Z'),
    }
    expect(decideCancel(converted, new Date('2026-02-15T05:00:00Z'))).toEqual({ kind: 'end-now' })
  })
})

describe('a cancellation that is taken back', () => {
  it.each([
    ['a plan that renews', bought(true)],
    ['a plan that does not renew', bought(false)],
    ['the trial of a plan that renews', trialPurchase(given(true))],
    ['the trial of a plan that does not renew', trialPurchase(given(false))],
  ])('leaves no trace in the dates of %s', (_, purchase) => {
    const { autoRenew, nextBillingDate, endDate } = purchase
    const before = { autoRenew, nextBillingDate, endDate }
    expect(datesBeforeCancel(cancelled(purchase, nextDay))).toEqual(before)
  })
})
