import { microsOfDecimal } from '../money/decimal.ts'

export type BilledUsage = {
  /** All that was billed of the period, what came late included. 10^-6 units. */
  readonly usedMicros: bigint
  /** Left over from the period before, as it was priced with. */
  readonly carriedOverMicros: bigint
  /** Used before by other purchases that shared the allowance, as it was priced with, late usage included. */
  readonly usedBeforeMicros: bigint
}

/** What a line of usage was priced with. Units are decimals. */
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
 * Adds up lines of usage by the start of their period in Unix milliseconds. Lines of late usage come last, and count only
 * where the usage of their period is billed.
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
