import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  boughtPlan as bought,
  buyer,
  snapshotOfPlan,
  soldProduct,
} from '../../test/bought-plans.ts'
import { periodAt, usagePeriodAt, usagePeriodOf, type Cycle } from '../periods/periods.ts'
import { totalOf } from '../pricing/invoice-line.ts'
import type { PlanTerms } from '../plans/plan.ts'
import { decideChange, decideSwitch, needsNoPayment, type SwitchInput } from './decide-switch.ts'
import { newSwitchedPurchase, switchPrice } from './new-purchase.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import type { Purchase } from './repository.ts'

/* Changes of plan within a period: their charges, whatever the days on which they are made. */

let plans = 0

function planOf(
  priceMinor: number,
  terms: PlanTerms = {},
  type: PlanSnapshot['type'] = 'recurring',
) {
  const basePriceMinor = type === 'hybrid' ? priceMinor : null
  const fields = { type, basePriceMinor, meterRef: 'mtr_1' }
  const reference = `pln_${(plans += 1)}`
  return snapshotOfPlan(
    reference,
    priceMinor,
    { prorationPolicy: 'proportional', ...terms },
    fields,
  )
}

function withoutPolicy(plan: PlanSnapshot): PlanSnapshot {
  return { ...plan, terms: { billingCycle: 'monthly' } }
}

const atRenewal = (priceMinor: number) => planOf(priceMinor, { prorationPolicy: 'none' })

function changeOf(held: Purchase, plan: PlanSnapshot, at: Date) {
  return decideSwitch({ held, plan, isFirstCharge: false, currency: undefined, at })
}

function scheduledChange(input: SwitchInput) {
  const decision = decideChange(input)
  return decision.kind === 'at-renewal' ? decision.change : undefined
}

const june = new Date('2026-06-01T00:00:00Z')
const later = new Date('2026-06-11T00:00:00Z')

describe('decideSwitch', () => {
  const small = planOf(1_900)
  test.each([
    ['if the policy requires it', small, planOf(4_900, { prorationPolicy: 'full' }), {}],
    ['if nothing was paid', planOf(0), planOf(4_900), {}],
    ['if the new period has another length', small, planOf(49_000, { billingCycle: 'yearly' }), {}],
    ['if the new plan is of another type', small, planOf(4_900, {}, 'usage-based'), {}],
    ['if the current period is not paid', small, planOf(4_900), { status: 'past_due' }],
    ['during a trial', small, planOf(4_900), { status: 'trialing' }],
    ['while the renewal is due', small, planOf(4_900), { nextBillingDate: later }],
    ['if the purchase has ended', small, planOf(4_900), { endDate: later }],
    ['if the plan is the same', small, small, {}],
  ] as const)(
    'leaves the change to a new period %s',
    (_, before, after, change: Partial<Purchase>) => {
      expect(changeOf({ ...bought(before, june), ...change }, after, later)).toBeUndefined()
    },
  )

  test('leaves the change to a new period in another currency', () => {
    const input = {
      held: bought(small, june),
      plan: planOf(4_900),
      isFirstCharge: false,
      at: later,
    }
    expect(decideSwitch({ ...input, currency: 'EUR' })).toBeUndefined()
    expect(decideSwitch({ ...input, currency: 'USD' })).toBeDefined()
  })
})

test.each([
  [1_900, 4_900, 2_000n, false],
  [4_900, 1_900, -2_000n, true],
  [4_900, 0, -3_267n, true],
  [4_900, 4_900, 0n, true],
  // 49 cents are too little to charge alone.
  [1_900, 1_973, 49n, true],
  [1_900, 1_975, 50n, false],
])('charges a change from %i to %i with 20 of 30 days left: %i', (from, to, cents, isFree) => {
  const change = changeOf(bought(planOf(from), june), planOf(to), later)!
  expect(totalOf(change.lines)).toBe(cents)
  expect(needsNoPayment(change)).toBe(isFree)
})

describe('a plan with included units', () => {
  const [small, large] = [planOf(1_900, { limit: 100 }), planOf(4_900, { limit: 300 })]
  const atJuly = { at: new Date('2026-07-01T00:00:00Z') }
  const decided = (held: Purchase, plan: PlanSnapshot, at = later) =>
    decideChange({ held, plan, isFirstCharge: false, currency: undefined, at })

  test('changes to a cheaper plan at the renewal', () => {
    const decision = decided(bought(large, june), small)
    expect(decision).toMatchObject({ kind: 'at-renewal', change: atJuly })
  })

  test('changes to a more expensive plan at once, with units and price of the remaining days', () => {
    const decision = decided(bought(small, june), large)
    // 20 of 30 days of 200 additional units.
    expect(decision).toMatchObject({ kind: 'now', change: { includedMicros: 233_000_000n } })
  })

  test('gets no units for a difference that is too small to charge', () => {
    const lastHour = new Date('2026-06-30T23:00:00Z')
    const decision = decided(bought(small, june), large, lastHour)
    expect(decision).toMatchObject({ kind: 'at-renewal', change: atJuly })
  })

  test('cannot change to a cheaper plan before its end if it does not renew', () => {
    const held = { ...bought(large, june), autoRenew: false, nextBillingDate: null }
    expect(decided(held, small)).toMatchObject({ kind: 'too-early', until: atJuly.at })
    expect(decided(held, planOf(5_900, { limit: 300 }))).toMatchObject({ kind: 'now' })
  })

  test('counts units from the change if the previous plan has no limit', () => {
    const decision = decided(bought(planOf(4_900), june), small)
    expect(decision).toMatchObject({ kind: 'now', change: { includedMicros: 66_000_000n } })
    expect(decided(bought(small, june), planOf(4_900))).toMatchObject({
      change: { includedMicros: null },
    })
  })
})

test('charges the difference for a plan without a policy', () => {
  const change = changeOf(bought(planOf(1_900), june), withoutPolicy(planOf(4_900)), later)!
  expect(totalOf(change.lines)).toBe(2_000n)
})

describe('decideChange, with the policy none', () => {
  const held = bought(planOf(1_900), june)
  const input = { held, isFirstCharge: true, currency: undefined, at: later }

  test('changes nothing before the next renewal', () => {
    const plan = atRenewal(4_900)
    expect(changeOf(held, plan, later)).toBeUndefined()
    expect(scheduledChange({ ...input, plan })).toMatchObject({
      plan: { reference: plan.reference },
      at: new Date('2026-07-01T00:00:00Z'),
    })
  })

  test('charges the set-up fee once', () => {
    const plan = { ...atRenewal(4_900), setupFeeMinor: 500 }
    const fees = [true, false].map(
      (isFirstCharge) => scheduledChange({ ...input, plan, isFirstCharge })!.plan.setupFeeMinor,
    )
    expect(fees).toEqual([500, null])
  })

  test('starts a new period if the current one is not paid', () => {
    const plan = atRenewal(4_900)
    const unpaid: Purchase = { ...held, status: 'past_due' }
    expect(scheduledChange({ ...input, held: unpaid, plan })).toBeUndefined()
    expect(changeOf(unpaid, plan, later)).toBeUndefined()
  })

  test('charges the difference at once if the purchase does not renew', () => {
    const plan = atRenewal(4_900)
    const cancelled = { ...held, autoRenew: false, nextBillingDate: null }
    expect(scheduledChange({ ...input, held: cancelled, plan })).toBeUndefined()
    expect(totalOf(changeOf(cancelled, plan, later)!.lines)).toBe(2_000n)
  })
})

test('charges hybrid plans by their base prices', () => {
  const held = bought(planOf(1_900, {}, 'hybrid'), june)
  expect(totalOf(changeOf(held, planOf(4_900, {}, 'hybrid'), later)!.lines)).toBe(2_000n)
})

/* Multiplies the price of each plan by the seconds it was held, as one fraction without periods, lines or rounding. */
test('charges each plan of a period for the time it was held, for any sequence of changes', () => {
  const anchors = fc
    .integer({ min: 1_577_836_800, max: 2_208_988_800 })
    .map((seconds) => new Date(seconds * 1000))
  const cycles = fc.constantFrom('weekly', 'monthly', 'quarterly', 'yearly')
  const price = fc.integer({ min: 1, max: 99_999 })
  const changes = fc.array(fc.tuple(fc.double({ min: 0, max: 0.999, noNaN: true }), price), {
    maxLength: 8,
  })
  fc.assert(
    fc.property(anchors, cycles, price, changes, (anchor, billingCycle, firstPrice, wanted) => {
      let held = bought(planOf(firstPrice, { billingCycle }), anchor)
      const { start, end } = periodAt({ anchor, billingCycle, mode: 'calendar' }, anchor)
      const length = end.getTime() - start.getTime()
      const inOrder = wanted
        .map(([part, minor]) => ({ at: new Date(start.getTime() + part * length), minor }))
        .toSorted((one, other) => one.at.getTime() - other.at.getTime())
      let paid = BigInt(firstPrice)
      let exact = 0n
      let from = start
      let minor = firstPrice
      for (const each of inOrder) {
        const plan = planOf(each.minor, { billingCycle })
        const change = changeOf(held, plan, each.at)!
        paid += totalOf(change.lines)
        const given = { customer: buyer, product: soldProduct, plan, now: each.at }
        held = newSwitchedPurchase(given, change, switchPrice(plan, 'USD', '1'))
        expect(held).toMatchObject({ anchor, nextBillingDate: end, nextResetAt: end })
        const at = new Date(Math.floor(each.at.getTime() / 1000) * 1000)
        exact += BigInt(minor) * BigInt((at.getTime() - from.getTime()) / 1000)
        from = at
        minor = each.minor
      }
      const seconds = BigInt(length / 1000)
      exact += BigInt(minor) * BigInt((end.getTime() - from.getTime()) / 1000)
      // Each change is rounded separately, by at most half a cent.
      const off = 2n * (paid * seconds - exact)
      const most = BigInt(inOrder.length) * seconds
      expect(off <= most && -off <= most).toBe(true)
    }),
  )
})

describe('the first usage period of a purchase that continues a period', () => {
  const anchor = new Date('2026-01-31T12:00:00Z')
  const cycle: Cycle = { anchor, billingCycle: 'monthly', mode: 'calendar' }
  const start = new Date('2026-04-10T09:30:00Z')

  test('begins with the change, and ends by the anchor', () => {
    const first = { index: 2, start, end: new Date('2026-04-30T12:00:00Z') }
    expect(usagePeriodAt(cycle, start, start)).toEqual(first)
    expect(usagePeriodOf(cycle, start, 0)).toEqual(first)
    expect(usagePeriodOf(cycle, start, 3)).toEqual({
      index: 3,
      start: new Date('2026-04-30T12:00:00Z'),
      end: new Date('2026-05-31T12:00:00Z'),
    })
  })

  test('is a full period if the purchase began with it', () => {
    const boundary = new Date('2026-02-28T12:00:00Z')
    expect(usagePeriodAt(cycle, boundary, boundary)).toMatchObject({ index: 1, start: boundary })
  })
})
