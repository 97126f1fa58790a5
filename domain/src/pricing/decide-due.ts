import { chargeableMinor, chargeMaxMinor, chargeMinMinor } from '../money/processor-amounts.ts'

/** What becomes of the total of an invoice. Minor units; what is due and what is carried add up to the total. */
export type DueDecision = {
  /** To be paid now; nothing, or more. */
  readonly dueMinor: bigint
  /** Waits for the customer's next invoice in this currency: too little to be charged, or a credit where negative. */
  readonly carriedMinor: bigint
  /** More than the processor takes at once: a person must decide how it is paid. */
  readonly isHeld: boolean
}

/** Below the processor's minimum nothing is charged, and what its smallest step leaves over is not either: both wait. */
export function decideDue(totalMinor: bigint, currency: string): DueDecision {
  if (totalMinor < chargeMinMinor(currency)) {
    return { dueMinor: 0n, carriedMinor: totalMinor, isHeld: false }
  }
  const dueMinor = chargeableMinor(totalMinor, currency)
  const carriedMinor = totalMinor - dueMinor
  return { dueMinor, carriedMinor, isHeld: dueMinor > chargeMaxMinor(currency) }
}
