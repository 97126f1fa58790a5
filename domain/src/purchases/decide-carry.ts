import { timestampPastMsMax } from '@tollgate/schemas/limits'
import { unixSecond, usagePeriodAt, usagePeriodOf, type Period } from '../periods/periods.ts'
import { leavesUnits, leavingOf, rollingLimitMicros } from '../pricing/roll-over.ts'
import { cycleOf } from './access.ts'
import type { Purchase } from './repository.ts'

export type CarryDecision =
  /** Not due, or not any more. */
  | { readonly kind: 'nothing' }
  /** Nothing can come any more of the period before this one: what it leaves stays as it is. */
  | { readonly kind: 'settle'; readonly period: Period }
  /** What is noted is not when that is: it is put right. */
  | { readonly kind: 'align'; readonly carrySettlesAt: Date | null }

/** How long after its end usage of a period may still be told as stored: none is taken after 30 days. */
const settlesAfterMs = timestampPastMsMax + 3_600_000

/** What is to be done about the units that the period which runs was left. */
export function decideCarry(purchase: Purchase, now: Date): CarryDecision {
  const { carrySettlesAt, startDate, endDate, endedAt } = purchase
  const cycle = cycleOf(purchase)
  if (carrySettlesAt === null || carrySettlesAt > now) return { kind: 'nothing' }
  const hasEnded = endedAt !== null || (endDate !== null && endDate <= now)
  if (cycle === undefined || !rollsOver(purchase) || hasEnded) {
    return { kind: 'align', carrySettlesAt: null }
  }
  const period = usagePeriodAt(cycle, startDate, now)
  const settlesAt = settlementOf(period)
  if (settlesAt === null || settlesAt > now) return { kind: 'align', carrySettlesAt: settlesAt }
  return { kind: 'settle', period }
}

/** When it is known for good what the period was left; null: by then it is over itself. */
export function settlementOf({ start, end }: Period): Date | null {
  const settlesAt = new Date(start.getTime() + settlesAfterMs)
  return settlesAt < end ? settlesAt : null
}

/** The period that leaves something to this one; undefined: none does. */
export function periodThatLeaves(purchase: Purchase, { index, start }: Period): Period | undefined {
  const cycle = cycleOf(purchase)
  if (cycle === undefined || !rollsOver(purchase)) return undefined
  if (!leavesUnits(leavingOf(purchase), unixSecond(start))) return undefined
  const before = usagePeriodOf(cycle, purchase.startDate, index - 1)
  return before.end.getTime() === start.getTime() ? before : undefined
}

function rollsOver({ planSnapshot }: Purchase): boolean {
  return planSnapshot !== null && rollingLimitMicros(planSnapshot) !== undefined
}
