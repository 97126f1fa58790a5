import { minorPerMajor } from './currencies.ts'
import { divideRounded, type Fraction } from './decimal.ts'

/** Credits are worth a hundredth of a US cent each, whatever currency they were bought in. */
export const creditsPerMinorUnit = 100n

const centsPerDollar = 100n

/** What credits are worth in a currency of which one dollar buys `unitsPerDollar`. Minor units, rounded half up. */
export function displayMinor(credits: bigint, currency: string, unitsPerDollar: Fraction): bigint {
  const { numerator, denominator } = unitsPerDollar
  const dividend = credits * numerator * minorPerMajor(currency)
  return divideRounded(dividend, creditsPerMinorUnit * centsPerDollar * denominator)
}

/** How many credits an amount buys. It is turned into US cents first, and those are rounded. */
export function mintCredits(
  amountMinor: bigint,
  currency: string,
  unitsPerDollar: Fraction,
): bigint {
  return usdCents(amountMinor, currency, unitsPerDollar) * creditsPerMinorUnit
}

function usdCents(amountMinor: bigint, currency: string, unitsPerDollar: Fraction): bigint {
  if (currency === 'USD') return amountMinor
  const { numerator, denominator } = unitsPerDollar
  return divideRounded(
    amountMinor * centsPerDollar * denominator,
    minorPerMajor(currency) * numerator,
  )
}
