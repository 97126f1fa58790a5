import { expect, test } from 'vitest'
import type { Purchase } from '../purchases/repository.ts'
import { decideThresholdBill } from './decide-threshold-bill.ts'

/* Whether the running period of a purchase can be billed now: a monthly plan since 1 May. */

const [may, june, july] = ['2026-05-01', '2026-06-01', '2026-07-01'].map(
  (day) => new Date(`${day}T00:00:00Z`),
) as [Date, Date, Date]
const now = new Date('2026-05-20T00:00:00Z')
const early = new Date('2026-05-10T00:00:00Z')
const later = new Date('2026-05-25T00:00:00Z')

const purchase = {
  status: 'active',
  planSnapshot: {
    type: 'usage-based',
    terms: { billingModel: 'post-paid', billingCycle: 'monthly', billAtUnbilledMinor: 100 },
  },
  billingCycle: 'monthly',
  cycleMode: 'calendar',
  anchor: may,
  startDate: may,
  endDate: null,
  endedAt: null,
  nextUsageBillAt: june,
  usageClosesAt: null,
} as unknown as Purchase

const other = { ...purchase.planSnapshot!, terms: { billingModel: 'post-paid' } } as const

test.each<[string, Partial<Purchase>, Date, ReturnType<typeof decideThresholdBill>]>([
  ['runs', {}, now, { kind: 'bill', period: { start: may, end: june } }],
  ['ends early', { endDate: later }, now, { kind: 'bill', period: { start: may, end: later } }],
  ['ends later', { endDate: july }, now, { kind: 'bill', period: { start: may, end: june } }],
  ['has ended and is not billed', {}, june, { kind: 'wait' }],
  ['has ended early', { endDate: early }, now, { kind: 'nothing' }],
  ['belongs to an ended purchase', { endedAt: early }, now, { kind: 'nothing' }],
  ['was billed as a whole', { nextUsageBillAt: july }, now, { kind: 'nothing' }],
  ['is never billed', { nextUsageBillAt: null }, now, { kind: 'nothing' }],
  ['is not paid', { status: 'past_due' }, now, { kind: 'wait' }],
  ['is a trial', { status: 'trialing' }, now, { kind: 'nothing' }],
  ['is of a suspended purchase', { status: 'suspended' }, now, { kind: 'nothing' }],
  ['is of another plan', { planSnapshot: other }, now, { kind: 'nothing' }],
])('decides about a period that %s', (_, change, at, decision) => {
  expect(decideThresholdBill({ ...purchase, ...change }, at)).toEqual(decision)
})
