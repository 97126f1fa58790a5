import { describe, expect, test } from 'vitest'
import type { PlanSnapshot } from '@tollgate/domain/plans/plan-snapshot'
import { priceText, purchaseTexts, type Priced } from './purchase-texts.ts'
import { readerOf } from './reader.ts'

const now = new Date('2026-03-10T00:00:00Z')
const later = new Date('2026-04-01T00:00:00Z')
const before = new Date('2026-03-01T00:00:00Z')

const reader = readerOf('en-US')
const german = readerOf('de')

type Worded = Parameters<typeof purchaseTexts>[0]

function snapshot(priceMinor: number): PlanSnapshot {
  return {
    ...{ reference: 'pln_1', name: 'Pro', type: 'recurring', priceMinor, basePriceMinor: null },
    ...{ setupFeeMinor: null, currency: 'USD', meterRef: null, terms: { billingCycle: 'monthly' } },
  }
}

const purchase = (of: Partial<Worded>): Worded => ({
  status: 'active',
  cancelledAt: null,
  endDate: null,
  nextBillingDate: null,
  endedAt: null,
  planSnapshot: snapshot(1_000),
  ...of,
})

describe('purchaseTexts', () => {
  test.each<[string, Partial<Worded>, string, string | undefined]>([
    ['renewing', { nextBillingDate: later }, 'Active', 'Renews'],
    [
      'renewing for nothing',
      { nextBillingDate: later, planSnapshot: snapshot(0) },
      'Active',
      undefined,
    ],
    ['ending by itself', { endDate: later }, 'Active', 'Ends'],
    ['without an end', {}, 'Active', undefined],
    ['cancelled, still running', { cancelledAt: now, endDate: later }, 'Cancelled', 'Yours until'],
    ['lapsed, and nobody said so yet', { endDate: before }, 'Ended', 'Ended'],
    ['on trial', { status: 'trialing', nextBillingDate: later }, 'Trial', 'Trial ends'],
    ['unpaid', { status: 'past_due', nextBillingDate: before }, 'Payment failed', 'Was due'],
    [
      'owing for usage',
      { status: 'past_due', nextBillingDate: later },
      'Payment failed',
      undefined,
    ],
    ['suspended', { status: 'suspended' }, 'Paused', undefined],
    ['waiting', { status: 'pending' }, 'Waiting for payment', undefined],
    ['cancelled for good', { status: 'cancelled', endedAt: before }, 'Ended', 'Ended'],
    ['refunded', { status: 'refunded', endedAt: before }, 'Refunded', 'Ended'],
  ])('%s', (_, of, label, dateLabel) => {
    const words = purchaseTexts(purchase(of), now, reader.t)
    expect([words.label, words.date?.label]).toEqual([label, dateLabel])
  })
})

describe('priceText', () => {
  test.each<[string, Partial<Priced>]>([
    ['Free', { type: 'recurring', terms: { billingCycle: 'monthly' } }],
    ['$12.50 / month', { priceMinor: 1_250, terms: { billingCycle: 'monthly' } }],
    [
      '$12.50 every 10 days',
      { priceMinor: 1_250, terms: { billingCycle: 'custom', billingCycleDays: 10 } },
    ],
    ['¥500 / year', { priceMinor: 500, currency: 'JPY', terms: { billingCycle: 'yearly' } }],
    ['$99.00', { type: 'one-time', priceMinor: 9_900, terms: {} }],
    ['1 credit per request', { type: 'usage-based', terms: { creditsPerUnit: 1 } }],
    [
      'Pay for what you use',
      { type: 'usage-based', terms: { billingModel: 'post-paid', creditsPerUnit: 1 } },
    ],
    ['$9.00 / month', { type: 'hybrid', basePriceMinor: 900, terms: { billingCycle: 'monthly' } }],
    [
      '$49.00 / month + usage',
      {
        type: 'hybrid',
        basePriceMinor: 4_900,
        terms: { billingCycle: 'monthly', creditsPerUnit: 25 },
      },
    ],
    [
      '$49.00 / month + usage',
      {
        type: 'hybrid',
        basePriceMinor: 4_900,
        terms: { billingCycle: 'monthly', usageTiers: [{ minUsage: 0, creditsPerUnit: 3 }] },
      },
    ],
  ])('%s', (words, of) => {
    const plan: Priced = {
      type: 'recurring',
      priceMinor: 0,
      basePriceMinor: null,
      currency: 'USD',
      terms: {},
      ...of,
    }
    expect(priceText(plan, reader)).toBe(words)
  })

  test("returns texts in the reader's language", () => {
    const plan: Priced = {
      ...{ type: 'recurring', priceMinor: 1_250, basePriceMinor: null, currency: 'EUR' },
      terms: { billingCycle: 'custom', billingCycleDays: 10 },
    }
    expect(priceText(plan, german)).toBe('12,50 € alle 10 Tage')
  })
})
