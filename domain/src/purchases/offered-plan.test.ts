import type { AgreedPrice } from '@tollgate/schemas/http/agreed-prices'
import { describe, expect, test } from 'vitest'
import { boughtPlan, snapshotOfPlan } from '../../test/bought-plans.ts'
import type { OverridesVersion } from '../overrides/overrides.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { decideChange } from './decide-switch.ts'
import { decideUnpaidSince } from './decide-unpaid-since.ts'
import { newUnpaidPurchase } from './new-purchase.ts'
import {
  firstPaid,
  offerOwnPeriod,
  offerTo,
  planAfterChange,
  pricesAt,
  rampPeriodsBegun,
} from './offered-plan.ts'
import { paidPriceAt } from './paid-price.ts'
import type { Purchase } from './purchase.ts'

const at = (day: string) => new Date(`2026-${day}T00:00:00Z`)
const ramp = [
  { periods: 1, price: 0 },
  { periods: 2, price: 1_000 },
]
const ramped = snapshotOfPlan('pln_ramped', 4_000, { ramp })
const other = snapshotOfPlan('pln_other', 2_000)

function versions(
  prices: readonly Omit<AgreedPrice, 'planRef'>[],
  since = at('01-01'),
): OverridesVersion[] {
  const named = prices.map((price) => ({ planRef: ramped.reference, ...price }))
  return [{ since: since.toISOString(), charges: [], usageLimits: [], prices: named }]
}

function bought(plan: PlanSnapshot, day: string, fields: Partial<Purchase> = {}): Purchase {
  return boughtPlan(plan, at(day), fields)
}

const priceOf = (plan: PlanSnapshot) => plan.priceMinor

describe('a ramp', () => {
  test('gives each period the price of its step, and then the price of the plan', () => {
    const purchase = bought(ramped, '01-31')
    const prices = ['01-31', '02-27', '02-28', '03-31', '04-29', '04-30', '12-31'].map((day) =>
      Number(pricesAt(purchase, at(day))?.priceMinor),
    )
    expect(prices).toEqual([0, 0, 1_000, 1_000, 1_000, 4_000, 4_000])
  })

  test('counts the rest of a period that a purchase continues as its first one', () => {
    const purchase = bought(ramped, '01-20', { anchor: at('01-01') })
    const prices = ['01-25', '02-01', '03-01', '04-01'].map((day) =>
      Number(pricesAt(purchase, at(day))?.priceMinor),
    )
    expect(prices).toEqual([0, 1_000, 1_000, 4_000])
  })

  test('has not begun with a trial that was never paid', () => {
    const steps = [
      { periods: 1, price: 100 },
      { periods: 1, price: 900 },
    ]
    const plan = snapshotOfPlan('pln_tried', 4_000, { ramp: steps })
    const fields = { anchor: at('01-08'), paidAt: null, status: 'suspended' } as const
    const trial = bought(plan, '01-01', fields)
    const state = { last: trial, lastOfPlan: trial }
    expect(priceOf(offerOwnPeriod(plan, state, at('03-20')))).toBe(100)
    const held = bought(other, '03-10')
    expect(priceOf(offerTo(plan, { ...state, last: held }, at('03-20')))).toBe(100)
    const paid = { ...trial, paidAt: at('01-08') }
    expect(priceOf(offerOwnPeriod(plan, { last: paid, lastOfPlan: paid }, at('01-20')))).toBe(900)
    // A first period that costs nothing begins without a payment.
    const free = { ...bought(ramped, '01-01', fields), status: 'active' } as const
    expect(priceOf(offerOwnPeriod(ramped, { last: free, lastOfPlan: free }, at('01-20')))).toBe(
      1_000,
    )
  })

  test('is never begun again, whatever the customer cancels, changes and takes again', () => {
    const paid: number[] = []
    let lastOfPlan: Purchase | undefined
    for (const day of ['01-01', '01-29', '02-28', '03-10', '06-15']) {
      const offered = offerOwnPeriod(ramped, { last: undefined, lastOfPlan }, at(day))
      paid.push(priceOf(offered))
      const started = bought(offered, day)
      expect(started.planSnapshot?.priceMinor).toBe(4_000)
      // It ends a day later, for a free plan or for nothing.
      lastOfPlan = { ...started, endedAt: new Date(at(day).getTime() + 86_400_000) }
    }
    expect(paid).toEqual([0, 1_000, 1_000, 4_000, 4_000])
  })

  test('continues as if there had been no change, if the customer changes back within a period', () => {
    const first = bought(ramped, '01-01', { endedAt: at('02-10') })
    const last = bought(other, '02-10', { anchor: at('01-01') })
    const offers = ['02-20', '03-20'].map((day) =>
      priceOf(offerTo(ramped, { last, lastOfPlan: first }, at(day))),
    )
    expect(offers).toEqual([1_000, 1_000])
  })

  test('does not count the periods of another plan, now or with the renewal', () => {
    const none = { ...ramped, terms: { ...ramped.terms, prorationPolicy: 'none' as const } }
    const first = bought(ramped, '01-01', { endedAt: at('01-20') })
    const held = bought(other, '01-20', { anchor: at('01-01'), nextBillingDate: at('07-01') })
    const state = { last: held, lastOfPlan: first }
    const back = offerTo(ramped, state, at('06-20'))
    expect(priceOf(back)).toBe(1_000)
    // The price of the second step is for two periods, of which the running one is the first.
    const continued = bought(back, '06-20', { anchor: at('06-01') })
    expect(Number(pricesAt(continued, at('07-01'))?.priceMinor)).toBe(1_000)
    expect(Number(pricesAt(continued, at('08-01'))?.priceMinor)).toBe(4_000)
    const decision = decideChange({
      ...{ held, plan: offerTo(none, state, at('06-20')), isFirstCharge: false, at: at('06-20') },
      ...{ currency: undefined, rampPeriodsBegun: rampPeriodsBegun(first, at('06-20')) },
    })
    if (decision.kind !== 'at-renewal') throw new Error(decision.kind)
    const { plan } = decision.change
    const begun = bought(planAfterChange(plan, held, at('07-01')), '07-01')
    const prices = ['07-01', '08-01', '09-01'].map((day) =>
      Number(pricesAt(begun, at(day))?.priceMinor),
    )
    expect(prices).toEqual([1_000, 1_000, 4_000])
  })

  test('does not repeat its first period for a customer who changes back with the renewal', () => {
    const none = { ...ramped, terms: { ...ramped.terms, prorationPolicy: 'none' as const } }
    const first = bought(none, '01-01', { endedAt: at('01-10') })
    const held = bought(other, '01-10', { anchor: at('01-01'), nextBillingDate: at('02-01') })
    const plan = offerTo(none, { last: held, lastOfPlan: first }, at('01-20'))
    const begun = rampPeriodsBegun(first, at('01-20'))
    const input = { held, plan, isFirstCharge: false, currency: undefined, at: at('01-20') }
    const decision = decideChange({ ...input, rampPeriodsBegun: begun })
    if (decision.kind !== 'at-renewal') throw new Error(decision.kind)
    expect(priceOf(planAfterChange(decision.change.plan, held, decision.change.at))).toBe(1_000)
  })

  test('begins with the renewal for a customer who has only tried the plan', () => {
    const none = { ...ramped, terms: { ...ramped.terms, prorationPolicy: 'none' as const } }
    const tried = bought(none, '01-08', { startDate: at('01-01'), endedAt: at('01-05') })
    const held = bought(other, '01-10', { nextBillingDate: at('02-10') })
    const plan = offerTo(none, { last: held, lastOfPlan: tried }, at('01-20'))
    const input = { held, plan, isFirstCharge: false, currency: undefined, at: at('01-20') }
    const decision = decideChange(input)
    if (decision.kind !== 'at-renewal') throw new Error(decision.kind)
    expect(priceOf(planAfterChange(decision.change.plan, held, decision.change.at))).toBe(0)
  })

  test('is not begun by a trial', () => {
    const started = bought(ramped, '02-01', { startDate: at('01-25'), endedAt: at('01-28') })
    const state = { last: undefined, lastOfPlan: started }
    expect(priceOf(offerOwnPeriod(ramped, state, at('03-01')))).toBe(0)
  })

  test('continues with other terms of the plan, and begins with another plan', () => {
    const held = bought(ramped, '01-01')
    const terms = snapshotOfPlan(ramped.reference, 9_000, {
      ramp: [
        { periods: 2, price: 100 },
        { periods: 2, price: 200 },
      ],
    })
    expect(priceOf(planAfterChange(terms, held, at('03-01')))).toBe(200)
    expect(priceOf(planAfterChange({ ...terms, reference: 'pln_new' }, held, at('03-01')))).toBe(
      100,
    )
  })
})

describe('an agreed price', () => {
  test('applies to periods that begin in its time, and keeps the ramp for other fields', () => {
    const overrides = versions([
      { price: 700, from: '2026-02-15T00:00:00Z', until: '2026-04-01T00:00:00Z' },
    ])
    const purchase = bought(ramped, '01-01', { overrides })
    const prices = ['01-01', '02-01', '02-28', '03-01', '04-01'].map((day) =>
      Number(pricesAt(purchase, at(day))?.priceMinor),
    )
    expect(prices).toEqual([0, 1_000, 1_000, 700, 4_000])
  })

  test('sets the fee that a plan has, and none that the customer has paid', () => {
    const withFee = { ...ramped, setupFeeMinor: 500 }
    const overrides = versions([{ setupFee: 200 }])
    const state = { last: undefined, lastOfPlan: undefined, overrides }
    expect(offerTo(withFee, state, at('02-01')).setupFeeMinor).toBe(200)
    expect(offerTo(ramped, state, at('02-01')).setupFeeMinor).toBeNull()
  })

  test('that changed while the customer paid leaves what was paid for the first period', () => {
    const overrides = [
      ...versions([{ price: 700, ramp: [] }]),
      ...versions([{ price: 900, ramp: [] }], at('02-02')),
    ]
    const plain = snapshotOfPlan(ramped.reference, 4_000)
    const state = { last: undefined, lastOfPlan: undefined, overrides }
    const paid = offerTo(plain, state, at('02-01'))
    const started = { ...bought(paid, '02-03'), overrides }
    expect(Number(pricesAt(started, at('02-03'))?.priceMinor)).toBe(900)
    const stored = { ...started, ...firstPaid(started, paid) }
    expect(paidPriceAt(stored, started.planSnapshot!, at('02-10'))).toBe(700n)
    expect(paidPriceAt(stored, started.planSnapshot!, at('03-10'))).toBe(900n)
  })

  test('of a free period leaves nothing unpaid', () => {
    const overrides = versions([
      { price: 0, from: '2026-03-01T00:00:00Z', until: '2026-05-01T00:00:00Z' },
    ])
    const plain = snapshotOfPlan(ramped.reference, 4_000)
    const purchase = bought(plain, '02-01', { overrides })
    const paidUntil = at('03-01')
    expect(decideUnpaidSince(purchase, paidUntil, at('04-20'))).toBeUndefined()
    expect(decideUnpaidSince(purchase, paidUntil, at('05-20'))).toEqual(at('05-01'))
  })

  test('is not stored with the plan of a purchase', () => {
    const state = { last: undefined, lastOfPlan: undefined, overrides: versions([{ price: 700 }]) }
    const plan = offerTo(ramped, state, at('02-01'))
    const given = { customer: { reference: 'cus_a', email: '' }, cycleMode: 'calendar' } as const
    const product = { reference: 'prd_A', name: 'API' }
    const origin = 'manual'
    const purchase = newUnpaidPurchase({ ...given, product, plan, origin, now: at('02-01') })
    expect(priceOf(plan)).toBe(700)
    expect(purchase.planSnapshot).toEqual(ramped)
  })
})
