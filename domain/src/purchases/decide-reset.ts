import { usagePeriodAt, type Period } from '../periods/periods.ts'
import { cycleOf } from './access.ts'
import type { Purchase } from './repository.ts'

export type ResetDecision =
  /** Not due, or not any more. */
  | { readonly kind: 'nothing' }
  /** The period has begun that was due. Null: it is the last one. */
  | { readonly kind: 'reset'; readonly period: Period; readonly nextResetAt: Date | null }
  /** What is noted is no end of a period: it is put right, and there is nothing to tell. */
  | { readonly kind: 'align'; readonly nextResetAt: Date | null }

/**
 * What the end of a period brings to the counting of usage. Nothing is set to zero: usage counts in the period of its
 * own time, whatever ran first. One period at a time, also where several have passed since.
 */
export function decideReset(purchase: Purchase, now: Date): ResetDecision {
  const { nextResetAt, endDate, startDate } = purchase
  const cycle = cycleOf(purchase)
  if (cycle === undefined || nextResetAt === null || nextResetAt > now) return { kind: 'nothing' }
  if (endDate !== null && endDate <= nextResetAt) return { kind: 'align', nextResetAt: null }
  const period = usagePeriodAt(cycle, startDate, nextResetAt)
  if (period.start.getTime() === nextResetAt.getTime()) {
    return { kind: 'reset', period, nextResetAt: orNoneAfter(endDate, period.end) }
  }
  const current = usagePeriodAt(cycle, startDate, now)
  return { kind: 'align', nextResetAt: orNoneAfter(endDate, current.end) }
}

function orNoneAfter(endDate: Date | null, next: Date): Date | null {
  return endDate !== null && endDate <= next ? null : next
}
