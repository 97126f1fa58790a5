import { boundary, indexAt } from './calendar.ts'
import { carriedBy, carriersOf, chargesPeriod } from './chains.ts'
import { isChargedBack } from './disputes.ts'
import type { ModelInvoice } from './invoices.ts'
import { givesAccess, isOpen, refund } from './purchase.ts'
import type { ModelPurchase } from './records.ts'

/* What a full refund of a purchase's money means for the customer's others of the product: access follows what remains. */

/** Ends it, and what ran for the difference to it. What it had replaced goes on if that is still paid for. */
export function undo(
  purchases: readonly ModelPurchase[],
  refunded: ModelPurchase,
  at: number,
): readonly ModelPurchase[] {
  const carried = carriedBy(purchases, refunded)
  const undone = [refunded, ...carried.filter(({ plan }) => plan.price > 0)]
  const hadAccess = undone.some((each) => givesAccess(each, at))
  for (const each of undone) {
    if (each === refunded || isOpen(each) || each.status === 'suspended') refund(each, at)
  }
  const { before } = refunded
  const isHeld = purchases.some((each) => each.productRef === refunded.productRef && isOpen(each))
  if (hadAccess && !isHeld && before !== undefined && canGoOn(before, at)) {
    restore(before, undone)
    // Another one may take its place from now on.
    refunded.before = undefined
  }
  return carried
}

function canGoOn(before: ModelPurchase, at: number): boolean {
  const { status, endedAt, anchor, end } = before
  if (status !== 'expired' || endedAt === null || anchor > endedAt) return false
  if (end !== null && end <= at) return false
  return (before.plan.cycle === undefined || periodEnd(before) > at) && isPaid(before)
}

/** Its own newest period, or that of those before it whose period it goes on with. */
function isPaid(purchase: ModelPurchase): boolean {
  const carriers = carriersOf(purchase)
  if (carriers.some(({ status }) => status === 'refunded') || isChargedBack(purchase)) return false
  const charging = carriers.flatMap(({ invoices }) => invoices.filter(chargesPeriod))
  const [newest] = charging.toSorted((a, b) => startOf(b) - startOf(a))
  return newest === undefined || newest.status === 'paid' || newest.status === 'partly_refunded'
}

function startOf({ lines }: ModelInvoice): number {
  return lines.find(({ kind }) => kind === 'recurring')?.start ?? 0
}

function periodEnd({ plan, mode, anchor, endedAt }: ModelPurchase): number {
  return boundary(plan.cycle!, mode, anchor, indexAt(plan.cycle!, mode, anchor, endedAt!) + 1)
}

function restore(before: ModelPurchase, undone: readonly ModelPurchase[]): void {
  const isEnding = before.end !== null || before.plan.cycle === undefined
  const nextBilling = isEnding ? null : periodEnd(before)
  if (before.plan.usage !== undefined && before.plan.cycle !== undefined) {
    resumeUsage(before, undone)
  }
  Object.assign(before, { status: 'active', autoRenew: !isEnding, nextBilling, endedAt: null })
  before.events.push('purchase.activated', 'purchase.plan_changed')
}

/** The bill of its period goes on to the end; what was used since the final bill is late. */
function resumeUsage({ usageBook, ...before }: ModelPurchase, undone: readonly ModelPurchase[]) {
  const end = periodEnd({ usageBook, ...before })
  const isBilled = undone.some((each) => each.usageBook.billed.size > 0)
  const last = [...usageBook.billed].find(([, period]) => period.end === before.endedAt)
  const isFinal = usageBook.billedUntil === null
  usageBook.closesAt = null
  if (isBilled || (isFinal && last !== undefined)) usageBook.billedUntil = end
  else if (isFinal) {
    const { plan, mode, anchor, startedAt } = before
    const start = boundary(
      plan.cycle!,
      mode,
      anchor,
      indexAt(plan.cycle!, mode, anchor, before.endedAt! - 1),
    )
    usageBook.billedUntil = Math.max(start, startedAt)
  }
  if (isFinal && !isBilled && last !== undefined) usageBook.billed.set(last[0], { ...last[1], end })
}
