import type { Charge } from '@tollgate/schemas/http/charges'
import { expect, test } from 'vitest'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { usageBillLines, type ChargeUsage } from './usage-lines.ts'

/* The lines of a bill for a plan with charges. */

const dollars = { currency: 'USD', unitsPerDollar: '1' }
const may = { start: new Date('2026-05-01T00:00:00Z'), end: new Date('2026-06-01T00:00:00Z') }
const june = { start: may.end, end: new Date('2026-07-01T00:00:00Z') }
const purchase = {
  anchor: may.start,
  startDate: may.start,
  suspendedAt: null,
  accessRestoredAt: null,
  cycleMode: 'calendar' as const,
  firstIncludedMicros: null,
}

function planWith(charges: readonly Charge[]): PlanSnapshot {
  return {
    reference: 'pln_1',
    name: 'Pro',
    type: 'hybrid',
    priceMinor: 0,
    basePriceMinor: null,
    setupFeeMinor: null,
    currency: 'USD',
    meterRef: 'mtr_1',
    terms: { charges },
  }
}

const units = (count: number): bigint => BigInt(count) * 1_000_000n

type Used = { readonly june: number; readonly may: number; readonly billedInMay: number }

function usageOf(key: string, used: Used, before = 0): ChargeUsage {
  const billed = {
    usedMicros: units(used.billedInMay),
    carriedOverMicros: 0n,
    usedBeforeMicros: units(before),
  }
  return {
    key,
    current: { period: june, usedMicros: units(used.june), usedBeforeMicros: 0n },
    earlier: [
      { period: may, usedMicros: units(used.may), usedBeforeMicros: units(before), billed },
    ],
    reading: { meterName: key, watermark: '2026-07-01T00:05:00.000Z', nextOffsets: {} },
  }
}

function linesOf(charges: readonly Charge[], usage: readonly ChargeUsage[]) {
  return usageBillLines(purchase, planWith(charges), dollars, usage).map(
    ({ description, amountMinor }) => [description, amountMinor],
  )
}

const tokens: Charge = { meter: 'tokens', model: 'per_unit', price: '1', per: 'period' }
const images: Charge = { meter: 'images', model: 'per_unit', price: '10', per: 'period' }

test('lists late usage of all charges before the current period', () => {
  const usage = [
    usageOf('tokens', { june: 5, may: 7, billedInMay: 4 }),
    usageOf('images', { june: 1, may: 2, billedInMay: 2 }),
  ]
  expect(linesOf([tokens, { ...images, displayName: 'Pictures' }], usage)).toEqual([
    ['Pro, tokens, recorded late', 3n],
    ['Pro, tokens', 5n],
    ['Pro, Pictures', 10n],
  ])
})

test('carries unused units of one charge over, and not those of another', () => {
  const usage = [
    usageOf('tokens', { june: 150, may: 60, billedInMay: 60 }),
    usageOf('images', { june: 150, may: 60, billedInMay: 60 }),
  ]
  const included = { included: 100 }
  const charges = [
    { ...tokens, ...included, rollover: true },
    { ...images, ...included },
  ]
  // 40 tokens are left from May.
  expect(linesOf(charges, usage)).toEqual([
    ['Pro, tokens', 10n],
    ['Pro, images', 500n],
  ])
})

test('carries over included units, and what earlier purchases used of them is not left', () => {
  const usage = [usageOf('tokens', { june: 500, may: 30, billedInMay: 30 }, 50)]
  // 20 of 100 are left, so 120 of 500 are included in June.
  const charge = { ...tokens, included: 100, rollover: true }
  expect(linesOf([charge], usage)).toEqual([['Pro, tokens', 380n]])
})

test('charges no units above a cap', () => {
  const usage = [usageOf('tokens', { june: 500, may: 0, billedInMay: 0 })]
  expect(linesOf([{ ...tokens, cap: 100, included: 30 }], usage)).toEqual([['Pro, tokens', 70n]])
})

test('does not charge a price in a currency other than that of the plan', () => {
  const usage = [usageOf('tokens', { june: 5, may: 0, billedInMay: 0 })]
  const euros = { currency: 'EUR', unitsPerDollar: '0.92' }
  expect(() => usageBillLines(purchase, planWith([tokens]), euros, usage)).toThrow(
    'no price in EUR',
  )
})
