import { isBehind, lagOf } from '../entitlements/counted-usage-reader.ts'
import { UsageBehindError } from '../entitlements/usage-behind-error.ts'
import type { UsageParts } from '../entitlements/usage-query.ts'

export type LateReading = Parameters<typeof lagOf>[0]

/** Pause before a reading that was too early is repeated. */
const readAgainAfterMs = 2

/** Waits until a reading that was too early may be repeated. Throws UsageBehindError after the deadline. */
export async function waitForLateReadings(
  { hotState, progress }: UsageParts,
  readings: readonly LateReading[],
  waitMs: number,
  deadline: number,
): Promise<void> {
  const lags = readings.filter(isBehind).map(lagOf)
  const patienceMs =
    lags.length > 0 ? progress.patienceWithoutTailMs(lags, waitMs) : readAgainAfterMs
  const leftMs = Math.min(patienceMs, deadline - performance.now())
  if (leftMs <= 0) {
    throw new UsageBehindError(
      lags.reduce((sum, { head, appliedOffset }) => sum + head - appliedOffset, 0),
    )
  }
  await hotState.waitForApply(leftMs)
}
