import type { Invoice } from '../invoices/invoice.ts'
import { hasUnpaidInvoice } from '../invoices/unpaid.ts'
import { dollarCents, dollarsPerUnit } from '../money/dollar-amount.ts'
import { findExchangeRate } from '../money/exchange-rates.ts'
import { periodAt } from '../periods/periods.ts'
import type { ChargedPeriod } from '../pricing/invoice-line.ts'
import { billsUsage } from '../pricing/billed-charges.ts'
import { isPurchaseChargedBack } from './charged-back.ts'
import { cycleOf } from '../purchases/access.ts'
import { renewalAfter } from '../purchases/decide-renewal.ts'
import { pricesAt } from '../purchases/offered-plan.ts'
import { movePurchase, type PurchaseChange } from '../purchases/move-purchase.ts'
import type { Purchase } from '../purchases/repository.ts'
import { canMove, type PurchaseTrigger } from '../purchases/transitions.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { endSubstitute, noFailures, resumePurchase } from './resume-purchase.ts'

/**
 * Applies a paid invoice to its purchase: starts the period that the invoice charges, or resumes a purchase that was
 * past due or suspended for nonpayment. The caller has locked the purchase and the invoice. Calling this again is safe:
 * a period that has begun does not begin again. Returns whether anything changed.
 */
export async function applyPaidInvoice(
  work: UnitOfWork,
  purchase: Purchase,
  invoice: Invoice,
  period: ChargedPeriod | undefined,
): Promise<boolean> {
  if (period === undefined) return resumeAfterPayment(work, purchase, invoice)
  const trigger = beginTriggerOf(purchase, period)
  if (trigger === undefined) return false
  await beginPeriod(work, purchase, period, trigger)
  return true
}

const beginTriggers: Readonly<Partial<Record<Purchase['status'], PurchaseTrigger>>> = {
  trialing: 'trial-converted',
  active: 'renewed',
  past_due: 'renewed',
  suspended: 'paid',
}

/**
 * Returns the transition that starts the period once it is paid. Returns undefined if the period has begun already or
 * can no longer begin.
 */
export function beginTriggerOf(
  purchase: Purchase,
  { start }: ChargedPeriod,
): PurchaseTrigger | undefined {
  if (purchase.nextBillingDate?.getTime() !== start.getTime()) return undefined
  const trigger = beginTriggers[purchase.status]
  return trigger !== undefined && canMove(purchase, trigger) ? trigger : undefined
}

/**
 * Returns whether the invoice charges a period that its payment no longer starts, because the purchase has ended or has
 * moved to another period.
 */
export function isPeriodObsolete(purchase: Purchase, period: ChargedPeriod | undefined): boolean {
  return period !== undefined && beginTriggerOf(purchase, period) === undefined
}

async function beginPeriod(
  work: UnitOfWork,
  purchase: Purchase,
  period: ChargedPeriod,
  trigger: PurchaseTrigger,
): Promise<void> {
  if (purchase.status === 'suspended') await endSubstitute(work, purchase)
  await movePurchase(work, purchase, trigger, {
    ...noFailures,
    ...(purchase.originalAmountMinor === null ? await readFirstPrice(work, purchase, period) : {}),
    ...renewalAfter(purchase, nextDate(purchase, period, work.now)),
    nextUsageBillAt: purchase.nextUsageBillAt ?? firstUsageBill(purchase, work.now),
    paidAt: work.now,
  })
}

/** Returns the price of the purchase. A purchase that began with a trial has no price until its first paid period. */
async function readFirstPrice(
  { sql, providerId }: UnitOfWork,
  purchase: Purchase,
  { start }: ChargedPeriod,
): Promise<PurchaseChange> {
  const { currency } = purchase
  const prices = pricesAt(purchase, start)
  const rate = await findExchangeRate(sql, providerId, currency)
  if (prices === undefined || rate === undefined) return {}
  const exchangeRate = dollarsPerUnit(rate)
  const originalAmountMinor = prices.priceMinor + prices.setupFeeMinor
  return {
    amountMinor: Number(dollarCents(originalAmountMinor, currency, exchangeRate)),
    originalAmountMinor: Number(originalAmountMinor),
    exchangeRate,
  }
}

/**
 * Returns the end of the current period for a purchase that was suspended with its trial and had no usage to bill until
 * now. Returns null if the plan bills no usage.
 */
function firstUsageBill(purchase: Purchase, now: Date): Date | null {
  const cycle = cycleOf(purchase)
  const { planSnapshot: plan } = purchase
  if (cycle === undefined || plan === null || !billsUsage(plan)) return null
  return periodAt(cycle, now).end
}

/** Returns the next billing date. Periods that passed during a suspension gave no access and are not charged. */
function nextDate(purchase: Purchase, { end }: ChargedPeriod, now: Date): Date {
  const cycle = cycleOf(purchase)
  if (purchase.status !== 'suspended' || cycle === undefined || now <= end) return end
  return periodAt(cycle, now).start
}

const resumeTriggers = {
  past_due: 'debt-paid',
  suspended: 'paid',
} as const satisfies Partial<Record<Purchase['status'], PurchaseTrigger>>

/**
 * Resumes the purchase after an invoice without a recurring period, such as a usage bill, was paid. A purchase that was
 * suspended for a dispute stays suspended, because this payment does not replace the disputed money.
 */
async function resumeAfterPayment(
  work: UnitOfWork,
  purchase: Purchase,
  invoice: Invoice,
): Promise<boolean> {
  const { sql, providerId } = work
  const { status, reference } = purchase
  if (status !== 'past_due' && status !== 'suspended') return false
  const trigger = resumeTriggers[status]
  if (!canMove(purchase, trigger)) return false
  if (await hasUnpaidInvoice(sql, providerId, reference, invoice.reference)) return false
  if (status === 'suspended' && (await isPurchaseChargedBack(sql, providerId, purchase)))
    return false
  await resumePurchase(work, purchase, trigger)
  return true
}
