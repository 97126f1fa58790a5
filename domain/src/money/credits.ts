import { minorPerMajor } from './currencies.ts'
import { divideRounded, type Fraction } from './decimal.ts'

/** A credit is worth a hundredth of a US cent, whatever the currency in which it was bought. */
export const creditsPerMinorUnit = 100n

const centsPerDollar = 100n

/** Returns the value of credits in a currency of which one dollar buys `unitsPerDollar`. Minor units, rounded half up. */
export function creditValueMinor(
  credits: bigint,
  currency: string,
  unitsPerDollar: Fraction,
): bigint {
  const { numerator, denominator } = unitsPerDollar
  const dividend = credits * numerator * minorPerMajor(currency)
  return divideRounded(dividend, creditsPerMinorUnit * centsPerDollar * denominator)
}

/** Returns the number of credits that an amount buys. The amount is converted to US cents first, and those are rounded. */
export function purchasedCredits(
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
