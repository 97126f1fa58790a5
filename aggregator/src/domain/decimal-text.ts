const microsPerUnit = 1_000_000

/** Exact decimal text of 10^-6 units: `1500000` is `1.5`. No division of floats: the digits are cut, not computed. */
export function decimalText(micros: number): string {
  if (micros < 0) return `-${decimalText(-micros)}`
  const fraction = micros % microsPerUnit
  const whole = (micros - fraction) / microsPerUnit
  if (fraction === 0) return String(whole)
  return `${whole}.${String(fraction).padStart(6, '0')}`
}
