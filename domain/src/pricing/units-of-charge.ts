import { microsOfDecimal } from '../money/decimal.ts'
import type { LateUsageCharge, UsageCharge } from './line-inputs.ts'
import type { UnitsOfPeriod } from './price-usage.ts'

/** Returns the units that a usage line charges. For late usage these are the units billed before. */
export function unitsOfCharge(charge: UsageCharge | LateUsageCharge): UnitsOfPeriod {
  return {
    usedMicros: microsOfDecimal(charge.usedUnits),
    carriedOverMicros: microsOfDecimal(charge.carriedOverUnits),
    usedBeforeMicros: microsOfDecimal(charge.usedBeforeUnits ?? '0'),
    ...(charge.packUnits === undefined ? {} : { packMicros: microsOfDecimal(charge.packUnits) }),
    ...(charge.rowUnits === undefined ? {} : { rowMicros: charge.rowUnits.map(microsOfDecimal) }),
  }
}

/** Returns the units of the period including the late ones. */
export function unitsWithLate(charge: LateUsageCharge): UnitsOfPeriod {
  const units = unitsOfCharge(charge)
  const { usedMicros, usedBeforeMicros = 0n, carriedOverMicros = 0n, rowMicros } = units
  const late = charge.lateRowUnits?.map(microsOfDecimal)
  return {
    usedMicros: usedMicros + microsOfDecimal(charge.lateUnits),
    carriedOverMicros: carriedOverMicros + microsOfDecimal(charge.lateCarriedOverUnits ?? '0'),
    usedBeforeMicros: usedBeforeMicros + microsOfDecimal(charge.lateBeforeUnits ?? '0'),
    packMicros: (units.packMicros ?? 0n) + microsOfDecimal(charge.latePackUnits ?? '0'),
    rowMicros: rowMicros?.map((micros, row) => micros + (late?.[row] ?? 0n)),
  }
}
