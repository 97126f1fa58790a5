import { findRecurringPeriod } from '../invoices/billed-periods.ts'
import type { Invoice } from '../invoices/invoice.ts'
import { hasOtherUnpaid } from '../invoices/unpaid.ts'
import { periodAt } from '../periods/periods.ts'
import type { ChargedPeriod } from '../pricing/invoice-line.ts'
import { cycleOf } from '../purchases/access.ts'
import { movePurchase } from '../purchases/move-purchase.ts'
import type { Purchase } from '../purchases/repository.ts'
import { canMove, type PurchaseTrigger } from '../purchases/transitions.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'

const noFailures = { retryCount: 0, nextRetryAt: null }

/**
 * What an invoice that is paid means for its purchase: the period that it charges begins, and what stood still because it
 * was not paid goes on. The caller has locked both. Called any number of times: a period that has begun is not begun
 * again. Returns whether anything came of it.
 */
export async function settlePaid(
  work: UnitOfWork,
  purchase: Purchase,
  invoice: Invoice,
): Promise<boolean> {
  const period = await findRecurringPeriod(work.sql, work.providerId, invoice.reference)
  return period === undefined ? goOn(work, purchase, invoice) : begin(work, purchase, period)
}

const begins: Readonly<Partial<Record<Purchase['status'], PurchaseTrigger>>> = {
  trialing: 'trial-converted',
  active: 'renewed',
  past_due: 'renewed',
  suspended: 'paid',
}

async function begin(
  work: UnitOfWork,
  purchase: Purchase,
  period: ChargedPeriod,
): Promise<boolean> {
  if (purchase.nextBillingDate?.getTime() !== period.start.getTime()) return false
  const trigger = begins[purchase.status]
  if (trigger === undefined || !canMove(purchase, trigger)) return false
  await movePurchase(work, purchase, trigger, {
    ...noFailures,
    nextBillingDate: purchase.autoRenew ? nextDate(purchase, period, work.now) : null,
    paidAt: work.now,
  })
  return true
}

/** Periods that went by while it was suspended had no access, and cost nothing. */
function nextDate(purchase: Purchase, { end }: ChargedPeriod, now: Date): Date {
  const cycle = cycleOf(purchase)
  if (purchase.status !== 'suspended' || cycle === undefined || now <= end) return end
  return periodAt(cycle, now).start
}

const goesOn: Readonly<Partial<Record<Purchase['status'], PurchaseTrigger>>> = {
  past_due: 'debt-paid',
  suspended: 'paid',
}

/** Usage was paid for: nothing begins by it, but what was behind with its payments is not any more. */
async function goOn(work: UnitOfWork, purchase: Purchase, invoice: Invoice): Promise<boolean> {
  const trigger = goesOn[purchase.status]
  if (trigger === undefined || !canMove(purchase, trigger)) return false
  if (await hasOtherUnpaid(work.sql, work.providerId, purchase.reference, invoice.reference)) {
    return false
  }
  await movePurchase(work, purchase, trigger, noFailures)
  return true
}
