import { describe, expect, test } from 'vitest'
import {
  afterRecharge,
  decideRecharge,
  declinePauseMs,
  declinesMax,
  type RechargeFacts,
} from './decide-recharge.ts'
import type { AutoRecharge } from './repository.ts'

const now = new Date('2026-03-01T00:00:00Z')

const recharge: AutoRecharge = {
  status: 'active',
  thresholdMinor: 500n,
  thresholdCurrency: 'USD',
  topupMinor: 2_000n,
  topupCurrency: 'USD',
  monthlySpendMaxMinor: 4_000n,
  monthlySpendMinor: 2_000n,
  monthlySpendPeriod: '2026-03',
  failureCount: 0,
  fundingSourceType: 'saved_card',
  paymentMethodId: null,
  inFlightPaymentIntentId: null,
  lastChargeAt: null,
  lockAcquiredAt: null,
  updatedAt: new Date('2026-02-01T00:00:00Z'),
}

function decide(change: Partial<AutoRecharge>, facts: Partial<RechargeFacts> = {}) {
  const decision = decideRecharge({
    recharge: { ...recharge, ...change },
    balanceCredits: 49_949n,
    thresholdRate: { currency: 'USD', unitsPerDollar: '1', source: 'parity' },
    hasCard: true,
    now,
    ...facts,
  })
  return decision.kind === 'wait' ? decision.reason : decision.kind
}

describe('credits are bought', () => {
  test.each([
    ['below the threshold', {}, {}, 'charge'],
    // 49,950 credits are shown as 5.00: rounded half up.
    ['at it', {}, { balanceCredits: 49_950n }, 'enough'],
    ['switched off', { status: 'disabled' }, {}, 'not-active'],
    ['while a card is set up', { status: 'pending_setup' }, {}, 'not-active'],
    ['given up', { status: 'failed' }, {}, 'not-active'],
    ['while a charge is under way', { inFlightPaymentIntentId: 'txn_1' }, {}, 'in-flight'],
    ['up to the cap', { monthlySpendMinor: 2_000n }, {}, 'charge'],
    ['beyond the cap', { monthlySpendMinor: 2_001n }, {}, 'capped'],
    [
      'in another month',
      { monthlySpendMinor: 4_000n, monthlySpendPeriod: '2026-02' },
      {},
      'charge',
    ],
    ['without a card', {}, { hasCard: false }, 'no-card'],
    ['in a currency nobody knows', {}, { thresholdRate: undefined }, 'no-rate'],
    ['just turned down', { failureCount: 1, updatedAt: now }, {}, 'declined'],
    [
      'turned down a while ago',
      { failureCount: 1, updatedAt: new Date(now.getTime() - declinePauseMs) },
      {},
      'charge',
    ],
  ] as const)('%s', (_, change, facts, expected) => {
    expect(decide(change, facts)).toBe(expected)
  })
})

describe('what comes of a charge', () => {
  const charge = { amountMinor: 2_000n, chargedAt: new Date('2026-02-28T23:59:59Z') }

  test('that succeeded counts in the month it was begun in, and forgives declines', () => {
    const before = { ...recharge, failureCount: 2, monthlySpendPeriod: '2026-02' }
    expect(afterRecharge(before, { ...charge, isPaid: true }, now)).toMatchObject({
      failureCount: 0,
      monthlySpendMinor: 4_000n,
      monthlySpendPeriod: '2026-02',
      lastChargeAt: now,
      inFlightPaymentIntentId: null,
    })
  })

  test('that was declined too often ends it', () => {
    let after = recharge
    for (let declines = 1; declines <= declinesMax; declines++) {
      expect(after.status).toBe('active')
      after = afterRecharge(after, { ...charge, isPaid: false }, now)
      expect(after.failureCount).toBe(declines)
    }
    expect(after).toMatchObject({ status: 'failed', monthlySpendMinor: 2_000n })
  })
})
