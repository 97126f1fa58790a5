import { topUpMinorMax, topUpMinorMin } from '@tollgate/schemas/limits'
import { processorMinimumOf } from '@tollgate/domain/money/currencies'

/** Returns the minimum amount of a top-up in minor units: the largest of all minimums that apply. */
export function minimumTopUpMinor(currency: string): bigint {
  const [ours, processors] = [BigInt(topUpMinorMin), processorMinimumOf(currency)]
  return ours > processors ? ours : processors
}

/** Maximum amount of one top-up, in minor units. */
export const maximumTopUpMinor = BigInt(topUpMinorMax)

const suggestedMinor = [1_000n, 2_500n, 5_000n, 10_000n]

/**
 * Returns the amounts that the page suggests, such as $10, $25, $50 and $100, or ¥1,000 and so on. They are multiplied if the
 * minimum is larger.
 */
export function suggestedTopUpsMinor(currency: string): bigint[] {
  const minimum = minimumTopUpMinor(currency)
  const factor = [1n, 10n, 100n].find((each) => 1_000n * each >= minimum) ?? 1_000n
  return suggestedMinor.map((amountMinor) => amountMinor * factor)
}
