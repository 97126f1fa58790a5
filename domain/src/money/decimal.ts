/** An exact fraction; the denominator is positive. */
export type Fraction = { readonly numerator: bigint; readonly denominator: bigint }

const decimalPattern = /^(-?)(\d+)(?:\.(\d+))?$/

/** Of a decimal number written out, such as `9.46`. Throws RangeError for anything else. */
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

/** Rounds a quotient to a whole number, half away from zero. The divisor is positive. */
export function divideRounded(dividend: bigint, divisor: bigint): bigint {
  const half = dividend < 0n ? -divisor : divisor
  return (2n * dividend + half) / (2n * divisor)
}

/** The 10^-6 units of decimal text. Throws RangeError where it has more than six decimals, or is no number. */
export function microsOfDecimal(decimal: string): bigint {
  const { numerator, denominator } = fractionOf(decimal)
  const micros = (numerator * 1_000_000n) / denominator
  if (micros * denominator !== numerator * 1_000_000n) {
    throw new RangeError(`More than six decimals: ${decimal}`)
  }
  return micros
}

/** An amount of 10^-6 units as decimal text, without zeros at its end. */
export function decimalOfMicros(micros: bigint): string {
  const digits = (micros < 0n ? -micros : micros).toString().padStart(7, '0')
  const [whole, fraction] = [digits.slice(0, -6), digits.slice(-6).replace(/0+$/, '')]
  return (micros < 0n ? '-' : '') + whole + (fraction === '' ? '' : `.${fraction}`)
}
