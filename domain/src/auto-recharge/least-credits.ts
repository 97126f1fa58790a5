import { creditsPerMinorUnit } from '../money/credits.ts'
import { minorPerMajor } from '../money/currencies.ts'
import type { Fraction } from '../money/decimal.ts'

/** The fewest whole credits that are shown as no less than the amount. */
export function leastCredits(
  amountMinor: bigint,
  currency: string,
  { numerator, denominator }: Fraction,
): bigint {
  // What is shown is rounded half up: half a minor unit less is enough.
  const dividend = (2n * amountMinor - 1n) * creditsPerMinorUnit * 100n * denominator
  const divisor = 2n * numerator * minorPerMajor(currency)
  return (dividend + divisor - 1n) / divisor
}
