import { timestampPastMsMax } from '@tollgate/schemas/limits'
import { farFuture } from '../entitlements/compile-entitlement.ts'
import type { ChargedPeriod } from '../pricing/invoice-line.ts'
import type { Purchase } from '../purchases/repository.ts'
import { decideUsageBill, type UsageBillingDates } from './decide-usage-bill.ts'

/** Usage that is billed before the end of its period, because the customer is leaving. */
export type FinalBill = {
  /** State of the purchase when this bill is made, after the bills before it. */
  readonly purchase: Purchase
  /** Undefined if only late usage of periods that were billed before is left. */
  readonly period: ChargedPeriod | undefined
  readonly billingDates: UsageBillingDates
}

/**
 * Upper limit on the bills of one purchase. Only a billing runner that was down for years could leave more unbilled
 * periods.
 */
const billsMax = 64

/**
 * Returns the bills that charge all usage of a purchase up to now, oldest first: one for each period that has ended,
 * and one for the current period, which is billed as a whole. If the card is declined, the customer may stay after all.
 * Usage between this bill and the end of the period is then late usage of the next bill, and is priced after the units
 * that were already billed.
 */
export function decideFinalBills(purchase: Purchase, now: Date): readonly FinalBill[] {
  const bills: FinalBill[] = []
  let unbilled = purchase
  while (bills.length < billsMax) {
    const bill = decideNextBill(unbilled, now)
    if (bill === undefined || (bill.period === undefined && bills.length > 0)) break
    bills.push(bill)
    unbilled = { ...unbilled, ...bill.billingDates }
    if (bill.period === undefined || bill.period.end > now) break
  }
  return bills
}

const statusesWithoutBills: ReadonlySet<Purchase['status']> = new Set([
  'pending',
  'trialing',
  'refunded',
])

function decideNextBill(purchase: Purchase, now: Date): FinalBill | undefined {
  const { status, nextUsageBillAt: next, usageClosesAt: closesAt, endDate, endedAt } = purchase
  if (statusesWithoutBills.has(status)) return undefined
  if (next === null) return closesAt === null ? undefined : lateBill(purchase, closesAt)
  // A period without an end is billed up to now.
  const isEndless = next.getTime() === farFuture.getTime()
  const running = isEndless ? { endedAt: endedAt ?? now } : {}
  // An end date in the future does not count yet, because the customer can withdraw the cancellation.
  const end = endDate !== null && endDate > now ? null : endDate
  const at = next > now && !isEndless ? next : now
  const delays = { graceMs: 0, lateMs: timestampPastMsMax }
  const decision = decideUsageBill({ ...purchase, ...running, endDate: end }, at, delays)
  switch (decision.kind) {
    case 'align': {
      const { nextUsageBillAt } = decision.billingDates
      const isMoved = nextUsageBillAt !== null && nextUsageBillAt.getTime() !== next.getTime()
      const bill = isMoved
        ? decideNextBill({ ...purchase, ...decision.billingDates }, now)
        : undefined
      // The bill keeps the purchase with its stored billing dates: `billUsage` compares them with the locked row.
      return bill && { ...bill, purchase }
    }
    case 'bill': {
      const { period, billingDates } = decision
      return period.start <= now
        ? { purchase, period, billingDates }
        : lateBill(purchase, closesAt ?? next)
    }
    case 'nothing':
    case 'wait':
    case 'close':
      return undefined
  }
}

/**
 * Returns a bill for late usage only. It moves `usageClosesAt` by 1 ms: if two bills are made of the same usage, the
 * second one finds the billing dates changed and writes nothing.
 */
function lateBill(purchase: Purchase, closesAt: Date): FinalBill {
  const { nextUsageBillAt } = purchase
  const usageClosesAt = new Date(closesAt.getTime() + 1)
  return { purchase, period: undefined, billingDates: { nextUsageBillAt, usageClosesAt } }
}
