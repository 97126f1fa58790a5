import { usagePeriodAt, type Period } from '../periods/periods.ts'
import { cycleOf } from './access.ts'
import type { Purchase } from './repository.ts'

export type ResetDecision =
  /** The reset is not due, or no longer needed. */
  | { readonly kind: 'nothing' }
  /** A new period has begun. `nextResetAt` is null if it is the last one. */
  | { readonly kind: 'reset'; readonly period: Period; readonly nextResetAt: Date | null }
  /** The stored time is not the end of a period. It is corrected without an event. */
  | { readonly kind: 'align'; readonly nextResetAt: Date | null }

/**
 * Decides what the end of a usage period changes. No counter is reset to zero: each record counts in the period of its own
 * timestamp, whatever ran first. The result covers one period, even if several have passed since.
 */
export function decideReset(purchase: Purchase, now: Date): ResetDecision {
  const { nextResetAt, endDate, startDate } = purchase
  const cycle = cycleOf(purchase)
  if (cycle === undefined || nextResetAt === null || nextResetAt > now) return { kind: 'nothing' }
  if (endDate !== null && endDate <= nextResetAt) return { kind: 'align', nextResetAt: null }
  const period = usagePeriodAt(cycle, startDate, nextResetAt)
  if (period.start.getTime() === nextResetAt.getTime()) {
    return { kind: 'reset', period, nextResetAt: nullIfEndedBy(endDate, period.end) }
  }
  const current = usagePeriodAt(cycle, startDate, now)
  return { kind: 'align', nextResetAt: nullIfEndedBy(endDate, current.end) }
}

function nullIfEndedBy(endDate: Date | null, next: Date): Date | null {
  return endDate !== null && endDate <= next ? null : next
}
