import { expect, test } from 'vitest'
import { boughtPlan, snapshotOfPlan } from '../../test/bought-plans.ts'
import type { Purchase } from './repository.ts'
import { addWindowsTakenIn } from './windows-taken-in.ts'

/* Purchases of one customer in June, one each day. Each starts a new period. */

const now = new Date('2026-06-20T00:00:00Z')

function purchaseOn(day: number, fields: Partial<Purchase> = {}): Purchase {
  const start = new Date(Date.UTC(2026, 5, day))
  return boughtPlan(snapshotOfPlan(`pln_${day}`, 900), start, {
    reference: `pur_${day}`,
    ...fields,
  })
}

const windowOn = (day: number): string => `pur_${day}@${Date.UTC(2026, 5, day) / 1000}`

test('includes the windows of a refunded purchase once', () => {
  const moves = addWindowsTakenIn(purchaseOn(1), [purchaseOn(2)], now)
  expect(moves).toEqual([{ window: windowOn(2), into: windowOn(1) }])
  const again = addWindowsTakenIn(purchaseOn(1, { windowsTakenIn: moves }), [purchaseOn(2)], now)
  expect(again).toEqual(moves)
})

test('includes the windows that a refunded purchase includes', () => {
  const undone = purchaseOn(2, {
    windowsTakenIn: [{ window: windowOn(3), into: windowOn(2) }],
  })
  expect(addWindowsTakenIn(purchaseOn(1), [undone], now)).toEqual([
    { window: windowOn(3), into: windowOn(1) },
    { window: windowOn(2), into: windowOn(1) },
  ])
})

test('includes no window of a purchase that shared its allowance', () => {
  const since = new Date(Date.UTC(2026, 5, 1))
  const allowance = { window: windowOn(1), since, until: new Date(Date.UTC(2026, 6, 1)) }
  expect(addWindowsTakenIn(purchaseOn(1), [purchaseOn(2, { allowance })], now)).toEqual([])
})

test('includes every period of a purchase that had more than one', () => {
  const undone = purchaseOn(2)
  const inAugust = new Date('2026-08-10T00:00:00Z')
  const moves = addWindowsTakenIn(purchaseOn(1), [undone], inAugust)
  expect(moves.map(({ window }) => window)).toEqual([
    windowOn(2),
    `pur_2@${Date.UTC(2026, 6, 2) / 1000}`,
    `pur_2@${Date.UTC(2026, 7, 2) / 1000}`,
  ])
})
