import { boundary, indexAt } from './calendar.ts'
import { continuationsOf, predecessorsOf, chargesPeriod } from './chains.ts'
import { isChargedBack } from './disputes.ts'
import { isReturned, type ModelInvoice } from './invoices.ts'
import { givesAccess, isOpen, refund } from './purchase.ts'
import type { ModelPurchase } from './records.ts'

/* Effects of a full refund on the customer's other purchases of the product. Access depends on the remaining payments. */

/**
 * Ends the purchase and those that continued its period for the difference. The replaced purchase continues if it is still paid.
 */
export function undoPlanChange(
  purchases: readonly ModelPurchase[],
  refunded: ModelPurchase,
  at: number,
): readonly ModelPurchase[] {
  const carried = continuationsOf(purchases, refunded)
  const undone = [refunded, ...carried.filter(({ plan }) => plan.price > 0)]
  const hadAccess = undone.some((each) => givesAccess(each, at))
  for (const each of undone) {
    if (each === refunded || isOpen(each) || each.status === 'suspended') refund(each, at)
  }
  const { before } = refunded
  const isHeld = purchases.some((each) => each.productRef === refunded.productRef && isOpen(each))
  if (hadAccess && !isHeld && before !== undefined && canContinue(before, at)) {
    restore(before, undone)
    // From now on another purchase may replace it.
    refunded.before = undefined
  }
  return carried
}

function canContinue(before: ModelPurchase, at: number): boolean {
  const { status, endedAt, anchor, end } = before
  if (status !== 'expired' || endedAt === null || anchor > endedAt) return false
  if (end !== null && end <= at) return false
  return (before.plan.cycle === undefined || periodEnd(before) > at) && isPaid(before)
}

/** Returns whether the newest period is paid, either its own or that of the earlier purchases whose period it continues. */
function isPaid(purchase: ModelPurchase): boolean {
  const carriers = predecessorsOf(purchase)
  if (carriers.some(({ status }) => status === 'refunded') || isChargedBack(purchase)) return false
  const charging = carriers.flatMap(({ invoices }) => invoices.filter(chargesPeriod))
  const [newest] = charging.toSorted((a, b) => startOf(b) - startOf(a))
  if (newest === undefined) return true
  return ['paid', 'partly_refunded', 'refunded'].includes(newest.status) && !isReturned(newest)
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

/** Billing of the period continues until its end. Usage since the final bill is late. */
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
