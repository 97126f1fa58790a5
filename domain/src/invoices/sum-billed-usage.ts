import { microsOfDecimal } from '../money/decimal.ts'

export type BilledUsage = {
  /** All billed usage of the period, including late usage. 10^-6 units. */
  readonly usedMicros: bigint
  /** Units left over from the previous period that the bill included. 10^-6 units. */
  readonly carriedOverMicros: bigint
  /**
   * Usage by earlier purchases that shared the allowance, as the bills priced it, including late usage. 10^-6 units.
   */
  readonly usedBeforeMicros: bigint
}

/** Inputs of the price of a usage line. Units are decimals. */
export type UsageLineRow = {
  readonly period_start: Date
  readonly kind: string
  readonly used: string
  readonly late: string | null
  readonly carried: string
  readonly before: string | null
  readonly late_before: string | null
}

/**
 * Adds up usage lines, keyed by the start of their period in Unix milliseconds. The rows of late usage must come last.
 * They count only if the usage of their period is billed.
 */
export function sumBilledUsage(rows: readonly UsageLineRow[]): Map<number, BilledUsage> {
  const billed = new Map<number, BilledUsage>()
  for (const row of rows) {
    const start = row.period_start.getTime()
    const known = billed.get(start)
    if (row.kind === 'usage') {
      billed.set(start, {
        usedMicros: microsOfDecimal(row.used),
        carriedOverMicros: microsOfDecimal(row.carried),
        usedBeforeMicros: microsOfDecimal(row.before ?? '0'),
      })
    } else if (known !== undefined) {
      billed.set(start, {
        ...known,
        usedMicros: known.usedMicros + microsOfDecimal(row.late ?? '0'),
        usedBeforeMicros: known.usedBeforeMicros + microsOfDecimal(row.late_before ?? '0'),
      })
    }
  }
  return billed
}
