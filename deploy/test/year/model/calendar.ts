/*
 * Periods as defined by the wire contract (4.2, Q31), computed without the product's code: months use the calendar of the
 * JavaScript engine. Times are milliseconds.
 */

export const hourMs = 3_600_000
export const dayMs = 24 * hourMs

export type ModelCycle = {
  readonly cycle: 'weekly' | 'monthly' | 'quarterly' | 'yearly' | 'custom'
  /** Number of days of a custom cycle. */
  readonly days?: number
}

export type Mode = 'calendar' | 'fixed_days'

const lengths = { weekly: 7, monthly: 30, quarterly: 90, yearly: 365 } as const
const months = { monthly: 1, quarterly: 3, yearly: 12 } as const

/** Returns the start of the period with an index, counted from the anchor. */
export function boundary({ cycle, days }: ModelCycle, mode: Mode, anchor: number, index: number) {
  if (cycle === 'custom') return anchor + index * (days ?? 30) * dayMs
  if (cycle === 'weekly' || mode === 'fixed_days') return anchor + index * lengths[cycle] * dayMs
  const moved = new Date(anchor)
  const day = moved.getUTCDate()
  moved.setUTCMonth(moved.getUTCMonth() + index * months[cycle])
  // The month has no such day, so the date rolled over. Go back to the last day of the previous month.
  if (moved.getUTCDate() !== day) moved.setUTCDate(0)
  return moved.getTime()
}

/** Returns the index of the period that contains the instant, or -1 if it is before the anchor. */
export function indexAt(cycle: ModelCycle, mode: Mode, anchor: number, at: number): number {
  if (at < anchor) return -1
  let index = 0
  while (boundary(cycle, mode, anchor, index + 1) <= at) index += 1
  return index
}

export const wholeSecond = (at: number): number => at - (at % 1_000)
