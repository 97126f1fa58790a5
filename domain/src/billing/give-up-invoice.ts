import { findRecurringPeriod } from '../invoices/billed-periods.ts'
import type { Invoice } from '../invoices/invoice.ts'
import { findInvoice, lockInvoice } from '../invoices/repository.ts'
import { writeOffInvoice } from '../invoices/settle-invoice.ts'
import { lockIntentOfInvoice, withdrawIntentOfInvoice } from '../payments/intents-repository.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { endNow } from '../purchases/move-purchase.ts'
import { lockPurchase } from '../purchases/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'

/**
 * Gives up on an open invoice that was not paid, and to which nothing has happened since `quietSince`. A purchase that was
 * suspended for it expires, and with it what it was to pay for the next period; usage is written off. Whether anything
 * came of it: what the bank is at is waited for, and so is a payment that is being withdrawn.
 */
export async function giveUpInvoice(
  work: UnitOfWork,
  invoiceRef: string,
  quietSince: Date,
): Promise<boolean> {
  const { sql, providerId, now } = work
  const named = await findInvoice(sql, providerId, invoiceRef)
  if (named === undefined) return false
  const { purchaseRef } = named
  // The payment before what it pays, as when it succeeds.
  const intent = await lockIntentOfInvoice(sql, providerId, invoiceRef)
  const purchase =
    purchaseRef === null ? undefined : await lockPurchase(sql, providerId, purchaseRef)
  const before = await lockInvoice(sql, providerId, invoiceRef)
  if (before === undefined || !isGivenUp(before, quietSince) || isUnderWay(intent)) return false
  const ended =
    purchase?.status === 'suspended' ? await endNow(work, purchase, 'expired') : purchase
  const left = await lockInvoice(sql, providerId, invoiceRef)
  if (left?.status !== 'open') return true
  // Of a purchase that is over it is void once the processor says that it cannot be paid any more. A period that could still
  // begin stays charged by it: written off, it would be billed for good, and never be charged again.
  const period = await findRecurringPeriod(sql, providerId, left.reference)
  if (ended !== undefined && period !== undefined) return ended !== purchase
  await withdrawIntentOfInvoice(sql, providerId, invoiceRef, now)
  await writeOffInvoice(work, left)
  return true
}

function isGivenUp({ status, isHeld, nextChargeAt, updatedAt }: Invoice, quietSince: Date) {
  return status === 'open' && !isHeld && nextChargeAt === null && updatedAt <= quietSince
}

function isUnderWay(intent: PaymentIntent | undefined): boolean {
  return intent?.status === 'processing' || intent?.status === 'creating'
}
