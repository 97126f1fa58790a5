import { chargeableMinor, chargeMaxMinor, chargeMinMinor } from '../money/processor-amounts.ts'

/** How the total of an invoice is paid. Minor units. `dueMinor` and `carriedMinor` sum to the total. */
export type DueDecision = {
  /** Amount to be paid now, at least 0. */
  readonly dueMinor: bigint
  /** Amount carried over to the customer's next invoice in this currency: too small to charge, or a credit if negative. */
  readonly carriedMinor: bigint
  /** The amount exceeds the processor's maximum, so a person must decide how it is paid. */
  readonly isHeld: boolean
}

/**
 * Decides how much of the total is due. Amounts below the processor's minimum, and remainders below its smallest step, are carried
 * over.
 */
export function decideDue(totalMinor: bigint, currency: string): DueDecision {
  if (totalMinor < chargeMinMinor(currency)) {
    return { dueMinor: 0n, carriedMinor: totalMinor, isHeld: false }
  }
  const dueMinor = chargeableMinor(totalMinor, currency)
  const carriedMinor = totalMinor - dueMinor
  return { dueMinor, carriedMinor, isHeld: dueMinor > chargeMaxMinor(currency) }
}
