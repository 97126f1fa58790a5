import { formatCount } from './amounts.ts'

/** Formats a fraction of whole numbers in lowest terms: a whole number as such, any other with its denominator. */
export function formatFraction(numerator: string, denominator: string): string {
  const [top, bottom] = [BigInt(numerator), BigInt(denominator)]
  const divisor = greatestDivisor(top < 0n ? -top : top, bottom)
  const whole = formatCount(String(top / divisor))
  return bottom === divisor ? whole : `${whole} / ${formatCount(String(bottom / divisor))}`
}

function greatestDivisor(one: bigint, other: bigint): bigint {
  return other === 0n ? one : greatestDivisor(other, one % other)
}
