import { microsPerUnit } from '@tollgate/schemas/quantity'

const microsPerCredit = BigInt(microsPerUnit)

/**
 * Returns whole credits as shown to clients. Fractions of a credit, which only fractions of a unit cost, are stored but not shown.
 */
export function wholeCredits(micros: bigint): number {
  return Number(micros / microsPerCredit)
}

/** Returns the number of whole units that the amount pays for. */
export function affordableUnits(micros: bigint, creditsPerUnit: number): number {
  return Number(micros / (BigInt(creditsPerUnit) * microsPerCredit))
}
