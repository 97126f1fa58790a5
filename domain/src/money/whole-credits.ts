import { microsPerUnit } from '@tollgate/schemas/quantity'

const microsPerCredit = BigInt(microsPerUnit)

/** What clients are told: parts of a credit, which only fractions of a unit cost, are kept but not shown. */
export function wholeCredits(micros: bigint): number {
  return Number(micros / microsPerCredit)
}

/** Whole units that so much pays for. */
export function paidUnits(micros: bigint, creditsPerUnit: number): number {
  return Number(micros / (BigInt(creditsPerUnit) * microsPerCredit))
}
