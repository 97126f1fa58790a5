import fc from 'fast-check'
import { expect, test } from 'vitest'
import { creditValueMinor } from '../money/credits.ts'
import { fractionOf } from '../money/decimal.ts'
import { leastCredits } from './least-credits.ts'

test('one credit less than the published threshold is shown as less than the amount', () => {
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
