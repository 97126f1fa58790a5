import type { EntitledPeriod } from './counting-windows.ts'
import { limitsOfPeriod } from './first-period.ts'

/**
 * Returns how much of the period may be used, in 10^-6 units: its cap with what the period before left to it, and no more
 * than may be unbilled at a time. Null: any amount.
 */
export function allowedMicros(
  entitlement: Parameters<typeof limitsOfPeriod>[0],
  { startSecond }: Pick<EntitledPeriod, 'startSecond'>,
  carriedOverMicros: bigint,
): bigint | null {
  const { cap, unbilled } = limitsOfPeriod(entitlement, startSecond)
  const capped = cap === null ? null : BigInt(cap) + carriedOverMicros
  if (unbilled === undefined || startSecond < unbilled.fromSecond) return capped
  const credit = BigInt(unbilled.units) + (unbilled.isWidened ? carriedOverMicros : 0n)
  return capped === null || credit < capped ? credit : capped
}
