import fc from 'fast-check'
import { expect, test } from 'vitest'
import { prorationLines, setupFeeLines } from '../pricing/charges.ts'
import { totalOf } from '../pricing/invoice-line.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { changeSharesOf } from './unused-time.ts'

const period = { start: new Date('2026-03-01T00:00:00Z'), end: new Date('2026-04-01T00:00:00Z') }

function aPlan(priceMinor: number, setupFeeMinor = 0): PlanSnapshot {
  return {
    ...{ reference: 'pln_ONE', name: 'One', type: 'recurring', priceMinor, basePriceMinor: null },
    ...{ setupFeeMinor, currency: 'USD', meterRef: null, terms: { billingCycle: 'monthly' } },
  }
}

test('shows the price of the rest of the period and the credit for the old plan', () => {
  const after = aPlan(9_900, 500)
  const changedAt = new Date('2026-03-16T12:00:00Z')
  const lines = [
    ...prorationLines(4_900n, after, 'USD', period, changedAt),
    ...setupFeeLines(after, 'USD'),
  ]
  expect(changeSharesOf({ lines })).toEqual({
    ...{ restMinor: 4_950n, unusedMinor: 2_450n, setupMinor: 500n, totalMinor: 3_000n },
    discountMinor: 0n,
  })
})

test('returns shares that add up to the charge, to the cent', () => {
  const price = fc.integer({ min: 0, max: 1_000_000 })
  const second = fc.integer({ min: 0, max: 31 * 86_400 - 1 })
  fc.assert(
    fc.property(price, price, price, second, (before, after, fee, seconds) => {
      const changedAt = new Date(period.start.getTime() + seconds * 1_000)
      const lines = [
        ...prorationLines(BigInt(before), aPlan(after), 'USD', period, changedAt),
        ...setupFeeLines(aPlan(after, fee), 'USD'),
      ]
      const { restMinor, unusedMinor, setupMinor, totalMinor } = changeSharesOf({ lines })
      expect(restMinor - unusedMinor + setupMinor).toBe(totalMinor)
      expect(totalMinor).toBe(totalOf(lines))
      expect(unusedMinor >= 0n && restMinor >= 0n && setupMinor === BigInt(fee)).toBe(true)
    }),
  )
})
