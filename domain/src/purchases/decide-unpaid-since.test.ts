import { expect, test } from 'vitest'
import { boughtPlan, snapshotOfPlan } from '../../test/bought-plans.ts'
import { decideUnpaidSince, isPaidInAdvance } from './decide-unpaid-since.ts'
import type { Purchase } from './repository.ts'

/* A monthly plan, bought and paid on 1 June. */

const plan = snapshotOfPlan('pro', 4_900)
const june = new Date('2026-06-01T00:00:00Z')
const july = new Date('2026-07-01T00:00:00Z')
const tenthOfJuly = new Date('2026-07-10T00:00:00Z')
const fifthOfJuly = new Date('2026-07-05T00:00:00Z')
const purchase = boughtPlan(plan, june)

test.each<[string, Partial<Purchase>, Date | null, Date, Date | undefined]>([
  [
    'is paid within the period that was bought',
    {},
    july,
    new Date('2026-06-20T00:00:00Z'),
    undefined,
  ],
  ['is unpaid once a renewal was not charged', {}, july, tenthOfJuly, july],
  ['is paid once it was renewed', {}, new Date('2026-08-01T00:00:00Z'), tenthOfJuly, undefined],
  ['is paid after a change of plan until its period ends', {}, null, july, undefined],
  ['is unpaid after a change of plan once its period has ended', {}, null, tenthOfJuly, july],
  [
    'is paid if it ended with the period that was paid',
    { status: 'expired', endedAt: july },
    july,
    tenthOfJuly,
    undefined,
  ],
  [
    'is unpaid if it ended later',
    { status: 'expired', endedAt: fifthOfJuly },
    july,
    tenthOfJuly,
    july,
  ],
])('a purchase %s', (_, fields, paidUntil, now, since) => {
  expect(decideUnpaidSince({ ...purchase, ...fields }, paidUntil, now)).toEqual(since)
})

test('treats purchases that are free, unpaid or without periods as not paid in advance', () => {
  expect(isPaidInAdvance(purchase)).toBe(true)
  expect(isPaidInAdvance({ ...purchase, planSnapshot: { ...plan, priceMinor: 0 } })).toBe(false)
  expect(isPaidInAdvance({ ...purchase, paidAt: null })).toBe(false)
  expect(isPaidInAdvance({ ...purchase, billingCycle: null })).toBe(false)
  expect(isPaidInAdvance({ ...purchase, planSnapshot: null })).toBe(false)
})

test('a first period that costs nothing is as good as paid, so an unpaid one after it is found', () => {
  const ramped = { ...plan, terms: { ...plan.terms, ramp: [{ periods: 1, price: 0 }] } }
  const free = { ...purchase, planSnapshot: ramped, paidAt: null }
  expect(isPaidInAdvance(free)).toBe(true)
  expect(decideUnpaidSince(free, null, new Date('2026-06-20T00:00:00Z'))).toBeUndefined()
  expect(decideUnpaidSince(free, null, tenthOfJuly)).toEqual(july)
  const trial = { ...free, startDate: new Date('2026-05-20T00:00:00Z') }
  expect(isPaidInAdvance(trial)).toBe(true)
  expect(decideUnpaidSince(trial, null, tenthOfJuly)).toEqual(july)
})
