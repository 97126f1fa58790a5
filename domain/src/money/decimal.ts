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
  const { numerator, denominator } = fractionOf(decimal)
  const micros = (numerator * 1_000_000n) / denominator
  if (micros * denominator !== numerator * 1_000_000n) {
    throw new RangeError(`More than six decimals: ${decimal}`)
  }
  return micros
}

/** Converts decimal text to 10^-12 units. Throws RangeError for more than 12 decimals or text that is not a number. */
export function picosOfDecimal(decimal: string): bigint {
  const { numerator, denominator } = fractionOf(decimal)
  const picos = (numerator * picosPerUnit) / denominator
  if (picos * denominator !== numerator * picosPerUnit) {
    throw new RangeError(`More than twelve decimals: ${decimal}`)
  }
  return picos
}

const picosPerUnit = 1_000_000_000_000n

/** Returns an amount of 10^-6 units as decimal text without trailing zeros. */
export function decimalOfMicros(micros: bigint): string {
  const digits = (micros < 0n ? -micros : micros).toString().padStart(7, '0')
  const [whole, fraction] = [digits.slice(0, -6), digits.slice(-6).replace(/0+$/, '')]
  return (micros < 0n ? '-' : '') + whole + (fraction === '' ? '' : `.${fraction}`)
}
