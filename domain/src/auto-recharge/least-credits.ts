import { creditsPerMinorUnit } from '../money/credits.ts'
import { minorPerMajor } from '../money/currencies.ts'
import type { Fraction } from '../money/decimal.ts'

/** Returns the fewest whole credits whose displayed value is not below the amount. */
export function leastCredits(
  amountMinor: bigint,
  currency: string,
  { numerator, denominator }: Fraction,
): bigint {
  // The displayed value is rounded half up, so half a minor unit less is enough.
  const dividend = (2n * amountMinor - 1n) * creditsPerMinorUnit * 100n * denominator
  const divisor = 2n * numerator * minorPerMajor(currency)
  return (dividend + divisor - 1n) / divisor
}
