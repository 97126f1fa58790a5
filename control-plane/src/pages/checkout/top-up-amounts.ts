import { topUpMinorMax, topUpMinorMin } from '@tollgate/schemas/limits'
import { processorMinimumOf } from '@tollgate/domain/money/currencies'

/** Returns the least that credits can be bought for: the largest of all minimums that apply. Minor units. */
export function leastTopUpMinor(currency: string): bigint {
  const [ours, processors] = [BigInt(topUpMinorMin), processorMinimumOf(currency)]
  return ours > processors ? ours : processors
}

/** The most that credits can be bought for at once. Minor units. */
export const mostTopUpMinor = BigInt(topUpMinorMax)

const suggested = [1_000n, 2_500n, 5_000n, 10_000n]

/** Amounts that the page suggests: $10, $25, $50 and $100, or ¥1,000 and so on. Multiplied where the least is larger. */
export function presetsMinor(currency: string): bigint[] {
  const least = leastTopUpMinor(currency)
  const factor = [1n, 10n, 100n].find((each) => 1_000n * each >= least) ?? 1_000n
  return suggested.map((amountMinor) => amountMinor * factor)
}
