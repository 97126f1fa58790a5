import { timestampPastMsMax } from '@tollgate/schemas/limits'
import { unixSeconds, usagePeriodAt, usagePeriodOf, type Period } from '../periods/periods.ts'
import { rollsUnitsOver, rollOverSpan, rollOverLimitMicros } from '../pricing/roll-over.ts'
import { cycleOf } from './access.ts'
import type { Purchase } from './repository.ts'

export type CarryOverDecision =
  /** The settlement is not due, or no longer needed. */
  | { readonly kind: 'nothing' }
  /** No more usage can arrive for the period before `period`, so its remaining units are final. */
  | { readonly kind: 'settle'; readonly period: Period }
  /** The stored settlement time is wrong and is corrected. */
  | { readonly kind: 'align'; readonly carrySettlesAt: Date | null }

/** How long after its end a period can still get usage records. Records older than 30 days are refused. */
const finalAfterMs = timestampPastMsMax + 3_600_000

/** Decides whether the units carried over into the current period are final. */
export function decideCarryOver(purchase: Purchase, now: Date): CarryOverDecision {
  const { carrySettlesAt, startDate, endDate, endedAt } = purchase
  const cycle = cycleOf(purchase)
  if (carrySettlesAt === null || carrySettlesAt > now) return { kind: 'nothing' }
  const hasEnded = endedAt !== null || (endDate !== null && endDate <= now)
  if (cycle === undefined || !rollsOver(purchase) || hasEnded) {
    return { kind: 'align', carrySettlesAt: null }
  }
  const period = usagePeriodAt(cycle, startDate, now)
  const settlesAt = carryOverFinalAt(period)
  if (settlesAt === null || settlesAt > now) return { kind: 'align', carrySettlesAt: settlesAt }
  return { kind: 'settle', period }
}

/** Returns when the units carried over into the period are final; null if that is after the period's end. */
export function carryOverFinalAt({ start, end }: Period): Date | null {
  const settlesAt = new Date(start.getTime() + finalAfterMs)
  return settlesAt < end ? settlesAt : null
}

/** Returns the period whose remaining units are carried over into this one, undefined if there is none. */
export function periodCarriedFrom(
  purchase: Purchase,
  { index, start }: Period,
): Period | undefined {
  const cycle = cycleOf(purchase)
  if (cycle === undefined || !rollsOver(purchase)) return undefined
  if (!rollsUnitsOver(rollOverSpan(purchase), unixSeconds(start))) return undefined
  const before = usagePeriodOf(cycle, purchase.startDate, index - 1)
  return before.end.getTime() === start.getTime() ? before : undefined
}

function rollsOver({ planSnapshot }: Purchase): boolean {
  return planSnapshot !== null && rollOverLimitMicros(planSnapshot) !== undefined
}
