import { describe, expect, test } from 'vitest'
import {
  withObstacle,
  withRechargeResult,
  decideRecharge,
  decideSpend,
  declinePauseMs,
  declinesMax,
  type RechargeFacts,
  leastCredits,
} from './decide-recharge.ts'
import type { AutoRecharge } from './repository.ts'
import fc from 'fast-check'
import { creditValueMinor } from '../money/credits.ts'
import { fractionOf } from '../money/decimal.ts'

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
  obstacle: null,
  obstacleMonth: null,
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
  if (decision.kind === 'obstructed') return decision.obstacle
  return decision.kind === 'wait' ? decision.reason : decision.kind
}

describe('decideRecharge', () => {
  test.each([
    ['buys below the threshold', {}, {}, 'buy'],
    // 49,950 credits are displayed as 5.00, because the value is rounded half up.
    ['buys nothing at the threshold', {}, { balanceCredits: 49_950n }, 'enough'],
    ['buys nothing if the recharge is switched off', { status: 'disabled' }, {}, 'not_active'],
    ['buys nothing while a card is set up', { status: 'pending_setup' }, {}, 'not_active'],
    ['buys nothing after the recharge has failed', { status: 'failed' }, {}, 'not_active'],
    [
      'buys nothing while a payment is in progress',
      { inFlightPaymentIntentId: 'txn_1' },
      {},
      'in_flight',
    ],
    ['buys nothing without a card', {}, { hasCard: false }, 'no_card'],
    [
      'buys nothing if the currency has no exchange rate',
      {},
      { thresholdRate: undefined },
      'exchange_rate_missing',
    ],
    ['buys nothing right after a decline', { failureCount: 1, updatedAt: now }, {}, 'declined'],
    [
      'buys again some time after a decline',
      { failureCount: 1, updatedAt: new Date(now.getTime() - declinePauseMs) },
      {},
      'buy',
    ],
  ] as const)('%s', (_, change, facts, expected) => {
    expect(decide(change, facts)).toBe(expected)
  })
})

describe('decideSpend', () => {
  const spent = (monthlySpendMinor: bigint, monthlySpendPeriod = '2026-03') => ({
    monthlySpendMinor,
    monthlySpendPeriod,
  })

  test.each([
    ['charges up to the monthly cap', spent(1_500n), 2_500n, 'charge'],
    ['charges nothing above the monthly cap', spent(1_501n), 2_500n, 'capped'],
    ['charges again in the next month', spent(4_000n, '2026-02'), 4_000n, 'charge'],
    ['reports a cap that is too low for any charge', spent(0n), 4_001n, 'monthly_cap_too_low'],
    [
      'charges any amount without a cap',
      { ...spent(9_000n), monthlySpendMaxMinor: null },
      9_000n,
      'charge',
    ],
  ] as const)('%s', (_, change, chargeMinor, expected) => {
    const decision = decideSpend({ ...recharge, ...change }, chargeMinor, now)
    expect(decision.kind === 'obstructed' ? decision.obstacle : decision.kind).toBe(expected)
  })
})

test('notifies the owner of an obstacle once a month', () => {
  const notified: string[] = []
  let seen = recharge
  for (const day of ['2026-03-01', '2026-03-02', '2026-03-31', '2026-04-01', '2026-04-30']) {
    const isFree = day === '2026-03-02'
    const after = withObstacle(seen, isFree ? null : 'exchange_rate_missing', new Date(day))
    seen = after.recharge
    expect(seen.obstacle).toBe(isFree ? null : 'exchange_rate_missing')
    if (after.mustNotify) notified.push(day)
  }
  expect(notified).toEqual(['2026-03-01', '2026-04-01'])
})

describe('withRechargeResult', () => {
  const charge = { amountMinor: 2_000n, chargedAt: new Date('2026-02-28T23:59:59Z') }

  test('counts a success in the month in which it began, and resets the declines', () => {
    const before = { ...recharge, failureCount: 2, monthlySpendPeriod: '2026-02' }
    expect(withRechargeResult(before, { ...charge, isPaid: true }, now)).toMatchObject({
      failureCount: 0,
      monthlySpendMinor: 4_000n,
      monthlySpendPeriod: '2026-02',
      lastChargeAt: now,
      inFlightPaymentIntentId: null,
    })
  })

  test('stops the recharge after too many declines', () => {
    let after = recharge
    for (let declines = 1; declines <= declinesMax; declines++) {
      expect(after.status).toBe('active')
      after = withRechargeResult(after, { ...charge, isPaid: false }, now)
      expect(after.failureCount).toBe(declines)
    }
    expect(after).toMatchObject({ status: 'failed', monthlySpendMinor: 2_000n })
  })
})

test('publishes the smallest threshold that is not displayed as less than the amount', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: 1_000_000n }),
      fc.constantFrom(['USD', '1'], ['EUR', '0.92'], ['JPY', '151.37'], ['KWD', '0.307']),
      (amountMinor, [currency, rate]) => {
        const unitsPerDollar = fractionOf(rate)
        const credits = leastCredits(amountMinor, currency, unitsPerDollar)
        expect(creditValueMinor(credits, currency, unitsPerDollar)).toBeGreaterThanOrEqual(
          amountMinor,
        )
        expect(creditValueMinor(credits - 1n, currency, unitsPerDollar)).toBeLessThan(amountMinor)
      },
    ),
  )
})
