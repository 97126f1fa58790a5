import { quantityMax } from './limits.ts'

/*
 * Amounts of usage are integers of 10^-6 units ("micros"). A JSON number becomes micros here, exactly or not at all,
 * and nothing after this file does arithmetic on fractions.
 */

export const microsPerUnit = 1_000_000

const microsPerUnitBig = 1_000_000n

/** Below 2^33 two neighbouring doubles lie less than 10^-6 apart; see `microsFromNumber`. */
const fineBelow = 2 ** 33

/**
 * The micros of a number with at most 6 decimals and |value| <= 9e9; undefined when it has no exact micros.
 *
 * A client writes decimal text, JSON.parse makes the nearest double of it. If the text meant m micros, `m / 1e6` is
 * that same double, because division rounds to nearest too. Below 2^33 doubles are at most 2^-20 apart, less than
 * 10^-6, so no second m gives the same double: a candidate that divides back to the value is the one that was meant.
 *
 * `Math.round(value * 1e6)` is that candidate, except that both roundings together may miss it by one from 2^32 up to
 * 2^52 / 10^6 (the double is up to 0.477 micros off, the product up to 0.25). Hence the neighbours.
 *
 * From 2^33 on doubles are coarser than 10^-6 and the text a double came from is ambiguous. Only doubles that are
 * themselves a multiple of 10^-6 are taken.
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

/** A double from 2^33 to 9e9 has a unit in the last place of 2^-19: value * 2^19 is an exact integer. */
function microsFromCoarse(value: number): number | undefined {
  const scale = 2 ** 19
  const scaled = BigInt(value * scale) * microsPerUnitBig
  if (scaled % BigInt(scale) !== 0n) return undefined
  return Number(scaled / BigInt(scale))
}

/** Decimal text without trailing zeros: `-0.000001`, `750`. */
export function decimalFromMicros(micros: bigint): string {
  const magnitude = micros < 0n ? -micros : micros
  const whole = magnitude / microsPerUnitBig
  const fraction = (magnitude % microsPerUnitBig).toString().padStart(6, '0').replace(/0+$/, '')
  const sign = micros < 0n ? '-' : ''
  return fraction === '' ? `${sign}${whole}` : `${sign}${whole}.${fraction}`
}

/** The JSON number nearest to the amount: exact below 2^33 units, and above for as many digits as a double has. */
export function numberFromMicros(micros: bigint): number {
  const near = Number(micros)
  // Of two exact numbers the quotient is rounded once, as the decimal text would be.
  return Number.isSafeInteger(near) ? near / microsPerUnit : Number(decimalFromMicros(micros))
}
