import { firstPeriodStart } from '../overrides/priced-plan.ts'
import { usagePeriodAt } from '../periods/periods.ts'
import { pricesIn } from '../pricing/plan-prices.ts'
import { cycleOf } from './access.ts'
import { pricesAt } from './offered-plan.ts'
import type { Purchase } from './repository.ts'
import { endedSuspended } from './suspension.ts'

/** Returns whether the periods of the purchase are charged in advance, and its first one was paid or costs nothing for the customer. */
export function isPaidInAdvance(purchase: Purchase): boolean {
  const { planSnapshot, currency, paidAt } = purchase
  if (planSnapshot === null || cycleOf(purchase) === undefined) return false
  if ((pricesIn(planSnapshot, currency)?.priceMinor ?? 0n) === 0n) return false
  return paidAt !== null || pricesAt(purchase, firstPeriodStart(purchase))?.priceMinor === 0n
}

/**
 * Returns the time from which the purchase gave access without payment. Undefined if all of it was paid. The purchase is charged in
 * advance. `paidUntil`: end of the last charged and paid period. It is null if no period was charged, for example after a change of
 * plan, whose charge pays for the continued period.
 */
export function decideUnpaidSince(
  purchase: Purchase,
  paidUntil: Date | null,
  now: Date,
): Date | undefined {
  const cycle = cycleOf(purchase)
  if (cycle === undefined) return undefined
  const { startDate } = purchase
  const until = accessUntil(purchase, now)
  let paidTo = paidUntil ?? usagePeriodAt(cycle, startDate, startDate).end
  // A period that costs nothing is not charged, and leaves nothing unpaid.
  while (paidTo < until && pricesAt(purchase, paidTo)?.priceMinor === 0n) {
    paidTo = usagePeriodAt(cycle, startDate, paidTo).end
  }
  return until > paidTo ? paidTo : undefined
}

function accessUntil(purchase: Purchase, now: Date): Date {
  const { endedAt, endDate, suspendedAt } = purchase
  const suspended = endedSuspended(purchase) ? suspendedAt : null
  const ends = [now, endedAt, endDate, suspended].flatMap((end) => (end === null ? [] : [end]))
  return ends.reduce((first, end) => (end < first ? end : first))
}
