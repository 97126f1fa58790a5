import type { EntitledPeriod } from './counting-windows.ts'
import { limitsOfPeriod } from './first-period.ts'
import type { PackUnits } from './pack-units.ts'

/**
 * Returns how much may be used in the period, in 10^-6 units: the cap plus the units carried over from the previous
 * period and those that packs add, but at most the units that may be unbilled at a time, to which packs add as well.
 * Returns null if the amount is unlimited.
 */
export function allowedMicros(
  entitlement: Parameters<typeof limitsOfPeriod>[0],
  { startSecond }: Pick<EntitledPeriod, 'startSecond'>,
  carriedOverMicros: bigint,
  packs?: PackUnits,
): bigint | null {
  const allowed = ownAllowedMicros(entitlement, { startSecond }, carriedOverMicros)
  return allowed === null ? null : allowed + (packs?.addedMicros ?? 0n)
}

function ownAllowedMicros(
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
