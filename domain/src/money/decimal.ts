/** An exact fraction with a positive denominator. */
export type Fraction = { readonly numerator: bigint; readonly denominator: bigint }

const decimalPattern = /^(-?)(\d+)(?:\.(\d+))?$/

/** Parses decimal text such as `9.46`. Throws RangeError for anything else. */
export function fractionOf(decimal: string): Fraction {
  const parts = decimalPattern.exec(decimal)
  if (parts === null) throw new RangeError(`Not a decimal number: ${decimal}`)
  const [, sign = '', whole = '', decimals = ''] = parts
  const digits = BigInt(whole + decimals)
  return {
    numerator: sign === '-' ? -digits : digits,
    denominator: 10n ** BigInt(decimals.length),
  }
}

/** Divides and rounds to a whole number, half away from zero. The divisor is positive. */
export function divideRounded(dividend: bigint, divisor: bigint): bigint {
  const half = dividend < 0n ? -divisor : divisor
  return (2n * dividend + half) / (2n * divisor)
}

/** Converts decimal text to 10^-6 units. Throws RangeError for more than 6 decimals or text that is not a number. */
export function microsOfDecimal(decimal: string): bigint {
  return wholeUnitsOf(decimal, 6)
}

/** Converts decimal text to 10^-12 units. Throws RangeError for more than 12 decimals or text that is not a number. */
export function picosOfDecimal(decimal: string): bigint {
  return wholeUnitsOf(decimal, 12)
}

function wholeUnitsOf(decimal: string, decimals: number): bigint {
  const { numerator, denominator } = fractionOf(decimal)
  const scale = 10n ** BigInt(decimals)
  const units = (numerator * scale) / denominator
  if (units * denominator !== numerator * scale) {
    throw new RangeError(`More than ${decimals} decimals: ${decimal}`)
  }
  return units
}

/** Returns an amount of 10^-6 units as decimal text without trailing zeros. */
export function decimalOfMicros(micros: bigint): string {
  return decimalOfUnits(micros, 6)
}

/** Returns a number of units of 10^-`decimals` as decimal text without trailing zeros. */
export function decimalOfUnits(units: bigint, decimals: number): string {
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0')
  const fraction = digits.slice(-decimals).replace(/0+$/, '')
  const whole = digits.slice(0, -decimals)
  return (units < 0n ? '-' : '') + whole + (fraction === '' ? '' : `.${fraction}`)
}
