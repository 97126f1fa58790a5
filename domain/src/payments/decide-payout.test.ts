import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isLaterPayout, toClearingMovement, payoutMove } from './decide-payout.ts'

const statuses = ['pending', 'in_transit', 'paid', 'failed', 'canceled'] as const

/** For each stored status, which of `statuses` change something and what they move. Written by hand. */
test.each([
  [undefined, ['none', 'none', 'to-bank', 'none', 'none']],
  ['pending', ['-', 'none', 'to-bank', 'none', 'none']],
  ['in_transit', ['-', '-', 'to-bank', 'none', 'none']],
  ['paid', ['-', '-', '-', 'back', 'back']],
  ['failed', ['-', '-', '-', '-', '-']],
  ['canceled', ['-', '-', '-', '-', '-']],
] as const)('moves the money of a payout that is stored as %s', (known, moves) => {
  const found = statuses.map((status) =>
    isLaterPayout(known, status) ? payoutMove(known, status) : '-',
  )
  expect(found).toEqual(moves)
})

test('stays within half a minor unit of the processor with movements finer than a minor unit', () => {
  const movements = fc.array(fc.bigInt({ min: -10_000n, max: 10_000n }), { maxLength: 20 })
  fc.assert(
    fc.property(fc.constantFrom(['KWD', 10n], ['USD', 1n]), movements, ([currency, per], units) => {
      let at = { clearingMinor: 0n, restUnits: 0n }
      let there = 0n
      for (const each of units) {
        const moved = toClearingMovement(at, currency, each)
        at = {
          clearingMinor: at.clearingMinor + moved.amountMinor,
          restUnits: at.restUnits + moved.restUnits,
        }
        there += each
        expect(at.clearingMinor * per + at.restUnits).toBe(there)
        expect(2n * (at.restUnits < 0n ? -at.restUnits : at.restUnits)).toBeLessThanOrEqual(per)
      }
    }),
  )
})
