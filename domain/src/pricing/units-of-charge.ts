import { microsOfDecimal } from '../money/decimal.ts'
import type { LateUsageCharge, UsageCharge } from './line-inputs.ts'
import type { UnitsOfPeriod } from './price-usage.ts'

/** The units that a line of usage charges; for late usage, those that were billed before. */
export function unitsOfCharge(charge: UsageCharge | LateUsageCharge): UnitsOfPeriod {
  return {
    usedMicros: microsOfDecimal(charge.usedUnits),
    carriedOverMicros: microsOfDecimal(charge.carriedOverUnits),
    usedBeforeMicros: microsOfDecimal(charge.usedBeforeUnits ?? '0'),
  }
}

/** The units of the period with those that came late. */
export function unitsWithLate(charge: LateUsageCharge): UnitsOfPeriod {
  const { usedMicros, usedBeforeMicros = 0n, carriedOverMicros } = unitsOfCharge(charge)
  return {
    usedMicros: usedMicros + microsOfDecimal(charge.lateUnits),
    carriedOverMicros,
    usedBeforeMicros: usedBeforeMicros + microsOfDecimal(charge.lateBeforeUnits ?? '0'),
  }
}
