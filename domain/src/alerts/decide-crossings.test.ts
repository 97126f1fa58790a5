import { describe, expect, test } from 'vitest'
import type { Alert } from './alert.ts'
import { decideCrossings } from './decide-crossings.ts'
import type { WatchedValue } from './watched-value.ts'

const at = new Date('2026-03-01T00:00:00Z')

const alert = (thresholds: Alert['thresholds'], change: Partial<Alert> = {}): Alert => ({
  reference: 'alr_1',
  watches: 'limit',
  limitKey: null,
  planRef: null,
  customerRef: null,
  thresholds,
  createdAt: at,
  updatedAt: at,
  ...change,
})

const used = (units: number, change: Partial<WatchedValue> = {}): WatchedValue => ({
  watches: 'limit',
  limitKey: 'tokens',
  meterName: 'tokens',
  productRef: 'prd_1',
  purchaseRef: 'pur_1',
  planRef: 'pln_1',
  unit: 'units',
  currency: null,
  value: BigInt(Math.round(units * 1e6)),
  whole: 1_000_000_000n,
  subject: 'cap tokens',
  size: '1000000000',
  period: { id: 'p', start: at, end: null },
  ...change,
})

const percentsOf = (alerts: readonly Alert[], value: WatchedValue) =>
  decideCrossings(alerts, value).map(({ percent }) => percent)

describe('a threshold in percent', () => {
  test.each([
    [799.999999, []],
    [800, [80]],
    [999.999999, [80]],
    [1_000, [80, 100]],
    [5_000, [80, 100]],
  ])('at %d of 1,000 units has reached %j', (units, expected) => {
    expect(percentsOf([alert([{ percent: 80 }])], used(units))).toEqual(expected)
  })

  test('is never reached early if the limit is not divisible', () => {
    const value = { whole: 1n, size: '1' }
    expect(percentsOf([alert([{ percent: 50 }])], used(0, value))).toEqual([])
    expect(percentsOf([alert([{ percent: 50 }])], used(0.000001, value))).toEqual([50, 100])
  })

  test('does not apply without a limit', () => {
    expect(percentsOf([alert([{ percent: 1 }])], used(9, { whole: null }))).toEqual([])
  })
})

test('counts the whole limit once if it is listed', () => {
  const [only, ...more] = decideCrossings([alert([{ percent: 100 }])], used(1_000))
  expect(more).toEqual([])
  expect(only).toMatchObject({ percent: 100, isWhole: true, threshold: '100% of 1000000000' })
})

test('compares amounts with their own unit and currency', () => {
  const spend = { watches: 'spend', unit: 'minor', currency: 'USD', value: 5_000n } as const
  const value = used(0, { ...spend, whole: null, limitKey: null })
  const onSpend = (amountMinor: number, currency: string) =>
    decideCrossings([alert([{ amountMinor, currency }], { watches: 'spend' })], value).length
  expect(onSpend(5_000, 'USD')).toBe(1)
  expect(onSpend(5_001, 'USD')).toBe(0)
  expect(onSpend(1, 'EUR')).toBe(0)
})

test('reaches a budget without an alert, and the whole of it as a limit', () => {
  const budget = used(0, { watches: 'budget', unit: 'minor', currency: 'USD', whole: 100n })
  expect(decideCrossings([], { ...budget, value: 99n })).toEqual([])
  expect(decideCrossings([], { ...budget, value: 100n })).toMatchObject([
    { alertRef: null, isWhole: true },
  ])
})

describe('the alert that applies', () => {
  const onAll = alert([{ percent: 10 }], { reference: 'all' })
  const onLimit = alert([{ percent: 10 }], { reference: 'limit', limitKey: 'tokens' })
  const onPlan = alert([{ percent: 10 }], { reference: 'plan', planRef: 'pln_1' })
  const ofCustomer = alert([{ percent: 10 }], { reference: 'customer', customerRef: 'cus_1' })
  const offForCustomer = alert([], { reference: 'off', customerRef: 'cus_1', limitKey: 'tokens' })
  test.each([
    [[onAll], 'all'],
    [[onLimit, onAll], 'limit'],
    [[onAll, onPlan, onLimit], 'plan'],
    [[onPlan, ofCustomer, onAll], 'customer'],
    [[ofCustomer, offForCustomer], undefined],
    [[alert([{ percent: 10 }], { planRef: 'pln_2' })], undefined],
    [[alert([{ percent: 10 }], { limitKey: 'images' })], undefined],
  ])('%# is the most specific one', (alerts, expected) => {
    expect(decideCrossings(alerts, used(100))[0]?.alertRef).toBe(expected)
  })
})
