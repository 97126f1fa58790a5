import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isLaterRefund, refundStateOf, taxOfRefund } from './decide-refund.ts'

const states = ['pending', 'succeeded', 'failed', 'canceled'] as const

/** For each stored state, the states that change something. Written by hand. */
test.each([
  [undefined, ['pending', 'succeeded', 'failed', 'canceled']],
  ['pending', ['succeeded', 'failed', 'canceled']],
  ['succeeded', ['failed', 'canceled']],
  ['failed', []],
  ['canceled', []],
] as const)('accepts later states of a refund that is stored as %s', (known, later) => {
  expect(states.filter((status) => isLaterRefund(known, status))).toEqual(later)
})

test('treats a refund that waits for the customer as pending', () => {
  expect(refundStateOf({ status: 'requires_action' })).toBe('pending')
})

test('splits the tax over partial refunds within one unit of their shares, without a remainder', () => {
  const cuts = fc.array(fc.integer({ min: 1, max: 10_000 }), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(cuts, fc.integer({ min: 0, max: 1000 }), (parts, perMille) => {
      const total = parts.reduce((sum, part) => sum + part, 0)
      const tax = Math.floor((total * perMille) / 1000)
      let [refunded, refundedTax] = [0, 0]
      for (const part of parts) {
        const payment = {
          ...{ totalMinor: BigInt(total), taxMinor: BigInt(tax) },
          ...{ refundedMinor: BigInt(refunded), refundedTaxMinor: BigInt(refundedTax) },
        }
        const found = Number(taxOfRefund(payment, BigInt(part)))
        expect(Math.abs(found - (tax * part) / total)).toBeLessThanOrEqual(1)
        refunded += part
        refundedTax += found
      }
      expect(refundedTax).toBe(tax)
    }),
  )
})
