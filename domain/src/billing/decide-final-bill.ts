import { timestampPastMsMax } from '@tollgate/schemas/limits'
import { farFuture } from '../entitlements/compile-entitlement.ts'
import type { ChargedPeriod } from '../pricing/invoice-line.ts'
import type { Purchase } from '../purchases/repository.ts'
import { decideUsageBill, type UsageNotes } from './decide-usage-bill.ts'

/** Usage that is billed before its time, because its customer leaves. */
export type FinalBill = {
  /** The purchase as it is when this bill is made: behind the bills before it. */
  readonly purchase: Purchase
  /** Undefined: only usage of periods that were billed before is left. */
  readonly period: ChargedPeriod | undefined
  readonly notes: UsageNotes
}

/** More than any purchase has: a runner that stood still for years. */
const billsMax = 64

/**
 * The bills that charge all usage of a purchase up to now, the oldest first: of each period that is over, and of the one
 * that runs. That one is billed as a whole. Should the customer stay after all, because the card was declined, what is
 * used until its end is late usage of the next bill, and priced behind what was billed.
 */
export function decideFinalBills(purchase: Purchase, now: Date): readonly FinalBill[] {
  const bills: FinalBill[] = []
  let left = purchase
  while (bills.length < billsMax) {
    const bill = decideNext(left, now)
    if (bill === undefined || (bill.period === undefined && bills.length > 0)) break
    bills.push(bill)
    left = { ...left, ...bill.notes }
    if (bill.period === undefined || bill.period.end > now) break
  }
  return bills
}

const withoutBills: ReadonlySet<Purchase['status']> = new Set(['pending', 'trialing', 'refunded'])

function decideNext(purchase: Purchase, now: Date): FinalBill | undefined {
  const { status, nextUsageBillAt: next, usageClosesAt: closesAt, endDate, endedAt } = purchase
  if (withoutBills.has(status)) return undefined
  if (next === null) return closesAt === null ? undefined : lateBill(purchase, closesAt)
  // A period without an end ends now.
  const isEndless = next.getTime() === farFuture.getTime()
  const running = isEndless ? { endedAt: endedAt ?? now } : {}
  // An end that lies ahead is no end yet: a cancellation can be taken back.
  const end = endDate !== null && endDate > now ? null : endDate
  const at = next > now && !isEndless ? next : now
  const delays = { graceMs: 0, lateMs: timestampPastMsMax }
  const decision = decideUsageBill({ ...purchase, ...running, endDate: end }, at, delays)
  switch (decision.kind) {
    case 'align': {
      const { nextUsageBillAt } = decision.notes
      const isMoved = nextUsageBillAt !== null && nextUsageBillAt.getTime() !== next.getTime()
      const bill = isMoved ? decideNext({ ...purchase, ...decision.notes }, now) : undefined
      // It is stored with the notes that it has.
      return bill && { ...bill, purchase }
    }
    case 'bill': {
      const { period, notes } = decision
      return period.start <= now
        ? { purchase, period, notes }
        : lateBill(purchase, closesAt ?? next)
    }
    case 'nothing':
    case 'wait':
    case 'close':
      return undefined
  }
}

/** Every bill moves the notes: of two that were made of the same usage, the second finds them moved. */
function lateBill(purchase: Purchase, closesAt: Date): FinalBill {
  const { nextUsageBillAt } = purchase
  const usageClosesAt = new Date(closesAt.getTime() + 1)
  return { purchase, period: undefined, notes: { nextUsageBillAt, usageClosesAt } }
}
