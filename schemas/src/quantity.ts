import { quantityMax } from './limits.ts'

/*
 * Amounts of usage are integers of 10^-6 units ("micros"). This file converts JSON numbers to micros exactly or refuses them. No
 * other code calculates with fractions.
 */

export const microsPerUnit = 1_000_000

const microsPerUnitBig = 1_000_000n

/** Below 2^33, adjacent doubles differ by less than 10^-6; see `microsFromNumber`. */
const fineBelow = 2 ** 33

/**
 * Returns the micros of a number with at most 6 decimals and |value| <= 9e9, or undefined if it has no exact micros.
 *
 * A client writes decimal text, and JSON.parse returns the nearest double. If the text means m micros, `m / 1e6` is the same
 * double, because division rounds to nearest too. Below 2^33, doubles differ by at most 2^-20, less than 10^-6, so no other m gives
 * the same double: a candidate whose quotient is the value is the intended one.
 *
 * `Math.round(value * 1e6)` is that candidate, except that both roundings together may miss it by one from 2^32 up to 2^52 / 10^6
 * (the double is up to 0.477 micros off, the product up to 0.25). Therefore its neighbours are tried too.
 *
 * From 2^33 on, doubles are coarser than 10^-6, and the original text is ambiguous. Only doubles that are themselves a multiple of
 * 10^-6 are accepted.
 */
export function microsFromNumber(value: number): number | undefined {
  const magnitude = Math.abs(value)
  if (!(magnitude <= quantityMax)) return undefined
  if (magnitude >= fineBelow) return microsFromCoarse(value)
  const micros = Math.round(value * microsPerUnit)
  // Adding 0 turns -0 into 0.
  if (micros / microsPerUnit === value) return micros + 0
  if ((micros - 1) / microsPerUnit === value) return micros - 1
  if ((micros + 1) / microsPerUnit === value) return micros + 1
  return undefined
}

/** The last bit of a double from 2^33 to 9e9 is worth at least 2^-19, so value * 2^19 is an exact integer. */
function microsFromCoarse(value: number): number | undefined {
  const scale = 2 ** 19
  const scaled = BigInt(value * scale) * microsPerUnitBig
  if (scaled % BigInt(scale) !== 0n) return undefined
  return Number(scaled / BigInt(scale))
}

/** Returns decimal text without trailing zeros, such as `-0.000001` or `750`. */
export function decimalFromMicros(micros: bigint): string {
  const magnitude = micros < 0n ? -micros : micros
  const whole = magnitude / microsPerUnitBig
  const fraction = (magnitude % microsPerUnitBig).toString().padStart(6, '0').replace(/0+$/, '')
  const sign = micros < 0n ? '-' : ''
  return fraction === '' ? `${sign}${whole}` : `${sign}${whole}.${fraction}`
}

/** Returns the JSON number nearest to the amount. It is exact below 2^33 units, and above that has as many digits as a double. */
export function numberFromMicros(micros: bigint): number {
  const near = Number(micros)
  // The quotient of two exact numbers is rounded once, like the decimal text.
  return Number.isSafeInteger(near) ? near / microsPerUnit : Number(decimalFromMicros(micros))
}
