import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { creditsPerMinorUnit, creditValueMinor, purchasedCredits } from './credits.ts'
import { formatMoney, majorText, minorPerMajor } from './currencies.ts'
import { divideRounded, fractionOf } from './decimal.ts'

/* The examples of the wire contract, then properties compared with a different arithmetic. */

test.each([
  ['SEK', '9.46', 10_000n, 105_700n, 9_999n, 'SEK 99.99'],
  ['EUR', '0.92', 5_000n, 543_500n, 5_000n, '€50.00'],
  ['JPY', '150', 500n, 33_300n, 500n, '¥500'],
  ['USD', '1', 10_000n, 1_000_000n, 10_000n, '$100.00'],
])('converts %s at %s', (currency, rate, paidMinor, credits, shownMinor, formatted) => {
  expect(purchasedCredits(paidMinor, currency, fractionOf(rate))).toBe(credits)
  expect(creditValueMinor(credits, currency, fractionOf(rate))).toBe(shownMinor)
  expect(formatMoney(shownMinor, currency)).toBe(formatted)
})

test('displays half a cent as 1 cent', () => {
  expect(creditValueMinor(5_250n, 'USD', fractionOf('1'))).toBe(53n)
  expect(creditValueMinor(4_200n, 'USD', fractionOf('1'))).toBe(42n)
})

describe('money arithmetic', () => {
  const amounts = fc.bigInt({ min: 0n, max: 10n ** 14n })
  const rates = fc.tuple(fc.integer({ min: 1, max: 10 ** 9 }), fc.integer({ min: 0, max: 6 }))
  const currencies = fc.constantFrom('USD', 'SEK', 'JPY', 'KRW', 'KWD')

  test('rounds to the nearest unit, and half away from zero', () => {
    const divisors = fc.bigInt({ min: 1n, max: 10n ** 12n })
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), divisors, (n, divisor) => {
        const rounded = divideRounded(n, divisor)
        const twiceOff = 2n * (rounded * divisor - n)
        const away = n < 0n ? -twiceOff : twiceOff
        expect(away > -divisor && away <= divisor).toBe(true)
      }),
    )
  })

  test('displays purchased credits with an error of less than the rounded cent', () => {
    fc.assert(
      fc.property(amounts, rates, currencies, (paid, [digits, decimals], currency) => {
        const rate = decimals === 0 ? `${digits}` : `${digits}`.padStart(decimals + 1, '0')
        const text = decimals === 0 ? rate : `${rate.slice(0, -decimals)}.${rate.slice(-decimals)}`
        const unitsPerDollar = fractionOf(currency === 'USD' ? '1' : text)
        const credits = purchasedCredits(paid, currency, unitsPerDollar)
        expect(credits % creditsPerMinorUnit).toBe(0n)
        const shown = creditValueMinor(credits, currency, unitsPerDollar)
        // Half a US cent in minor units of the currency, plus half a minor unit for display.
        const { numerator, denominator } = unitsPerDollar
        const off = shown > paid ? shown - paid : paid - shown
        const boundTwice = (minorPerMajor(currency) * numerator) / (100n * denominator) + 2n
        expect(2n * off <= boundTwice).toBe(true)
      }),
    )
  })

  test('formats major units exactly', () => {
    const both = fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n })
    fc.assert(
      fc.property(both, currencies, (minor, currency) => {
        const { numerator, denominator } = fractionOf(majorText(minor, currency))
        expect(numerator * minorPerMajor(currency)).toBe(minor * denominator)
      }),
    )
  })

  test.each(['', '1.', '.5', '1e3', '0x1', ' 1', '1,5', '--1', 'NaN'])(
    'refuses %j as a number',
    (text) => {
      expect(() => fractionOf(text)).toThrow(RangeError)
    },
  )
})
