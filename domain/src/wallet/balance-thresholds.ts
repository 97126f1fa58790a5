import { microsPerUnit } from '@tollgate/schemas/quantity'

const microsPerCredit = BigInt(microsPerUnit)

/**
 * Returns which thresholds a balance crosses when it falls from one amount to another, 10^-6 credits: the warning threshold, and
 * less than one whole credit. A balance that is already below a threshold does not cross it again.
 */
export function crossedThresholds(
  beforeMicros: bigint,
  afterMicros: bigint,
  warningMicros: bigint,
): ('low_balance' | 'exhausted')[] {
  const crossings: ('low_balance' | 'exhausted')[] = []
  if (beforeMicros > warningMicros && afterMicros <= warningMicros) crossings.push('low_balance')
  if (beforeMicros >= microsPerCredit && afterMicros < microsPerCredit) crossings.push('exhausted')
  return crossings
}

/** The default threshold is the price of 10 units if the price of a unit is known. */
const unitsLeftAtWarning = 10n
const creditsLeftAtWarning = 1_000n

/** Returns the warning threshold in 10^-6 credits. `ownCredits` is the threshold set by the provider. */
export function warningMicrosOf(
  ownCredits: bigint | null,
  creditsPerUnit: number | undefined,
): bigint {
  if (ownCredits !== null) return ownCredits * microsPerCredit
  if (creditsPerUnit === undefined || creditsPerUnit <= 0)
    return creditsLeftAtWarning * microsPerCredit
  return BigInt(creditsPerUnit) * unitsLeftAtWarning * microsPerCredit
}
