import { chargeStepMinor } from '@tollgate/platform/payments/processor-amounts'
import { chargeMinMinor } from '../money/processor-amounts.ts'

/** A price and the credit that can pay for it, in minor units of one currency. */
export type BalanceUse = {
  /** The price with tax. */
  readonly totalMinor: bigint
  /** The customer's credit; 0 or less if there is none. */
  readonly creditMinor: bigint
  readonly currency: string
  /** Whether the credit may pay everything. Otherwise a part is left for the processor to charge. */
  readonly mayPayAll: boolean
}

/**
 * Returns how much of a price the credit pays: as much as possible, so that the processor can charge the rest. A rest below the
 * processor's minimum is charged as that minimum, and the credit keeps the difference.
 */
export function decideBalanceUse(use: BalanceUse): bigint {
  const { totalMinor, creditMinor, currency, mayPayAll } = use
  if (creditMinor <= 0n) return 0n
  if (creditMinor >= totalMinor && mayPayAll) return totalMinor
  const restMinor = creditMinor < totalMinor ? totalMinor - creditMinor : 0n
  const stepMinor = chargeStepMinor(currency)
  const roundedMinor = ((restMinor + stepMinor - 1n) / stepMinor) * stepMinor
  const leastMinor = chargeMinMinor(currency)
  const chargedMinor = roundedMinor > leastMinor ? roundedMinor : leastMinor
  return chargedMinor < totalMinor ? totalMinor - chargedMinor : 0n
}
