import { expect, test } from 'vitest'
import { newUnpaidPurchase } from '@tollgate/domain/purchases/new-purchase'
import type { PlanSnapshot } from '@tollgate/domain/plans/plan-snapshot'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { readerOf } from '../reader.ts'
import { chargeOfChange, chargeText, nextChargeOfPurchase, type NextCharge } from './next-charge.ts'

const start = new Date('2026-03-01T00:00:00Z')
const firstEnd = new Date('2026-04-01T00:00:00Z')
const secondEnd = new Date('2026-05-01T00:00:00Z')

function aPlan(priceMinor: number, fields: Partial<PlanSnapshot> = {}): PlanSnapshot {
  return {
    ...{ reference: 'pln_ONE', name: 'One', type: 'recurring', priceMinor, basePriceMinor: null },
    ...{ setupFeeMinor: null, currency: 'USD', meterRef: null },
    terms: { billingCycle: 'monthly' },
    ...fields,
  }
}

const metered = aPlan(4_900, {
  type: 'hybrid',
  basePriceMinor: 4_900,
  terms: {
    ...{ billingCycle: 'monthly', limit: 10, creditsPerUnit: 100 },
    overagePolicy: { allowOverage: true },
  },
})

function bought(plan: PlanSnapshot, fields: Partial<Purchase> = {}): Purchase {
  const customer = { reference: 'cus_a', email: 'a@example.com' } as never
  const product = { reference: 'prd_A', name: 'API' }
  const given = { customer, product, plan, cycleMode: 'calendar', now: start } as const
  return { ...newUnpaidPurchase({ ...given, origin: 'paid' }), ...fields }
}

const cancelled = { cancelledAt: start, autoRenew: false, nextBillingDate: null, endDate: firstEnd }
const dearer = aPlan(9_900, { name: 'Two', setupFeeMinor: 1_000 })

test.each<[string, Purchase, Partial<NextCharge> | undefined]>([
  ['that renews', bought(aPlan(4_900)), { at: firstEnd, priceMinor: 4_900n, hasUsage: false }],
  ['that was cancelled', bought(aPlan(4_900), cancelled), undefined],
  [
    'that was cancelled, with usage',
    bought(metered, cancelled),
    { at: firstEnd, priceMinor: 0n, hasUsage: true },
  ],
  [
    'whose trial was cancelled',
    bought(aPlan(4_900), { status: 'trialing', cancelledAt: start, autoRenew: false }),
    undefined,
  ],
  [
    'that changes its plan at the renewal',
    bought(metered, { scheduledPlan: dearer }),
    { at: firstEnd, priceMinor: 10_900n, hasUsage: true, plan: dearer },
  ],
  [
    'that changes its plan after another renewal',
    bought(aPlan(4_900), { scheduledPlan: dearer, scheduledPlanAt: secondEnd }),
    { at: firstEnd, priceMinor: 4_900n },
  ],
])('returns the next charge of a purchase %s', (_, purchase, expected) => {
  const next = nextChargeOfPurchase(purchase)
  if (expected === undefined) expect(next).toBeUndefined()
  else expect(next).toMatchObject(expected)
})

test('is after the renewal for a change that waits for a notice period', () => {
  const from = bought(aPlan(4_900))
  expect(chargeOfChange({ from, plan: dearer, at: secondEnd })).toMatchObject({
    ...{ at: firstEnd, priceMinor: 4_900n },
  })
  expect(chargeOfChange({ from, plan: dearer, at: firstEnd })).toMatchObject({
    ...{ at: firstEnd, priceMinor: 10_900n },
  })
  const free = bought(aPlan(0))
  expect(chargeOfChange({ from: free, plan: dearer, at: secondEnd })?.at).toEqual(secondEnd)
})

test.each([
  [4_900n, false, '$49.00 plus tax on Apr 1, 2026'],
  [4_900n, true, '$49.00 plus usage and tax on Apr 1, 2026'],
  [0n, true, 'Your usage plus tax, on Apr 1, 2026'],
])('names a tax that is added (%s, usage: %s)', (priceMinor, hasUsage, words) => {
  const next = { at: firstEnd, priceMinor, currency: 'USD', hasUsage, plan: aPlan(4_900) }
  expect(chargeText({ ...next, isPlusTax: true }, readerOf('en-US'))).toBe(words)
  expect(chargeText(next, readerOf('en-US'))).not.toContain('tax')
})
