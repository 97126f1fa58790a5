import { findRecurringPeriod } from '../invoices/billed-periods.ts'
import type { Invoice } from '../invoices/invoice.ts'
import { findInvoice, lockInvoice } from '../invoices/repository.ts'
import { writeOffInvoice } from '../invoices/settle-invoice.ts'
import { lockIntentOfInvoice, requestCancelOfInvoice } from '../payments/intents-repository.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { endNow } from '../purchases/move-purchase.ts'
import { lockPurchase } from '../purchases/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'

/**
 * Stops the collection of an open invoice that was not paid and has not changed since `quietSince`. A suspended
 * purchase expires, and no longer owes the price of its next period. An invoice for usage is written off. Returns
 * whether anything changed. A payment that is in progress at the bank, or that is being created, is left alone until it
 * has a result.
 */
export async function endCollection(
  work: UnitOfWork,
  invoiceRef: string,
  quietSince: Date,
): Promise<boolean> {
  const { sql, providerId, now } = work
  const named = await findInvoice(sql, providerId, invoiceRef)
  if (named === undefined) return false
  const { purchaseRef } = named
  // The payment intent is locked before the invoice, in the same order as when a payment succeeds.
  const intent = await lockIntentOfInvoice(sql, providerId, invoiceRef)
  const purchase =
    purchaseRef === null ? undefined : await lockPurchase(sql, providerId, purchaseRef)
  const before = await lockInvoice(sql, providerId, invoiceRef)
  if (before === undefined || !isCollectionOver(before, quietSince) || isInProgress(intent))
    return false
  const ended =
    purchase?.status === 'suspended' ? await endNow(work, purchase, 'expired') : purchase
  const left = await lockInvoice(sql, providerId, invoiceRef)
  if (left?.status !== 'open') return true
  // The invoice of an ended purchase becomes void once the processor confirms that it can no longer be paid. If the
  // period can still begin, the invoice stays open: written off, it would keep the period billed, and the period could
  // never be charged again.
  const period = await findRecurringPeriod(sql, providerId, left.reference)
  if (ended !== undefined && period !== undefined) return ended !== purchase
  await requestCancelOfInvoice(sql, providerId, invoiceRef, now)
  await writeOffInvoice(work, left)
  return true
}

function isCollectionOver({ status, isHeld, nextChargeAt, updatedAt }: Invoice, quietSince: Date) {
  return status === 'open' && !isHeld && nextChargeAt === null && updatedAt <= quietSince
}

function isInProgress(intent: PaymentIntent | undefined): boolean {
  return intent?.status === 'processing' || intent?.status === 'creating'
}
