import type { UsageToBill } from './prepare-usage-bill.ts'
import type { BilledPart, UsageToPrice } from './usage-lines.ts'

/**
 * Returns the part of its period that a bill charges. Undefined if the bill charges a whole period, or only late usage. A bill within
 * a period ends at the time of its sums. It is always later than the bill before, also if a clock was set back.
 */
export function partOf(toBill: UsageToBill, measured: UsageToPrice): BilledPart | undefined {
  const { period, continued, leastMinor, purchase } = toBill
  const whole = period ?? continued
  const isWithin = leastMinor !== undefined
  if (whole === undefined || (!isWithin && continued === undefined)) return undefined
  const { usageBilledTo } = purchase
  const summedAt = new Date(measured[0]!.reading.watermark)
  return {
    periodStart: whole.start,
    since: continued === undefined ? undefined : usageBilledTo,
    until: isWithin ? latest(summedAt, usageBilledTo) : undefined,
  }
}

function latest(summedAt: Date, before: Date | undefined): Date {
  if (before === undefined || summedAt > before) return summedAt
  return new Date(before.getTime() + 1)
}
