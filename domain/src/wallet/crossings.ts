import { microsPerUnit } from '@tollgate/schemas/quantity'

const microsPerCredit = BigInt(microsPerUnit)

/**
 * What is to be told of a balance that has fallen from one amount to another, 10^-6 credits: that it has come down to
 * the warning, and that no whole credit is left. Each once on the way down: whoever is below already crosses nothing.
 */
export function crossingsOf(
  beforeMicros: bigint,
  afterMicros: bigint,
  warningMicros: bigint,
): ('low_balance' | 'exhausted')[] {
  const crossings: ('low_balance' | 'exhausted')[] = []
  if (beforeMicros > warningMicros && afterMicros <= warningMicros) crossings.push('low_balance')
  if (beforeMicros >= microsPerCredit && afterMicros < microsPerCredit) crossings.push('exhausted')
  return crossings
}

/** A warning comes ten units before the end, where it is known what a unit costs. */
const unitsLeftAtWarning = 10n
const creditsLeftAtWarning = 1_000n

/** Where the balance is low, 10^-6 credits. `ownCredits` is what the provider has set. */
export function warningMicrosOf(
  ownCredits: bigint | null,
  creditsPerUnit: number | undefined,
): bigint {
  if (ownCredits !== null) return ownCredits * microsPerCredit
  if (creditsPerUnit === undefined || creditsPerUnit <= 0)
    return creditsLeftAtWarning * microsPerCredit
  return BigInt(creditsPerUnit) * unitsLeftAtWarning * microsPerCredit
}
