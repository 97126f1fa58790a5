import { listBilledPeriods } from '../invoices/billed-periods.ts'
import { findInvoice } from '../invoices/repository.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { isStillPaid } from '../payments/refunds-repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { endRefunded } from './undo-change.ts'

/* Decides which refund ends what its payment paid for. Without a purchase nothing was delivered, so there is nothing to end. */

/** Ends the purchase if the invoice charged its newest period and is refunded in full. Earlier periods were used. */
export async function endRefundedPeriod(
  work: UnitOfWork,
  { purchaseRef, invoiceRef }: PaymentIntent,
): Promise<void> {
  if (purchaseRef === null) return
  if (await isLastPeriodRefunded(work, purchaseRef, invoiceRef))
    await endRefunded(work, purchaseRef)
}

/**
 * Ends the purchase of a plan that the payment sold, under the same condition. If no period of the purchase was charged, it ends
 * once all its payments are refunded, because credits for a plan are bought more than once.
 */
export async function endRefundedSale(work: UnitOfWork, intent: PaymentIntent): Promise<void> {
  const { purchaseRef, invoiceRef } = intent
  if (purchaseRef === null) return
  const isRefunded = await isLastPeriodRefunded(work, purchaseRef, invoiceRef)
  if (isRefunded === undefined) return endOnceAllRefunded(work, intent)
  if (isRefunded) await endRefunded(work, purchaseRef)
}

/** Ends the purchase once all its payments are refunded. */
export async function endOnceAllRefunded(
  work: UnitOfWork,
  { customerRef, purchaseRef }: PaymentIntent,
): Promise<void> {
  if (purchaseRef === null) return
  const { sql, providerId } = work
  if (await isStillPaid(sql, providerId, { customerRef, purchaseRef })) return
  await endRefunded(work, purchaseRef)
}

/**
 * Returns whether the invoice charged the newest period of the purchase and was refunded in full. Returns undefined if
 * no period of the purchase was charged.
 */
async function isLastPeriodRefunded(
  { sql, providerId }: Pick<UnitOfWork, 'sql' | 'providerId'>,
  purchaseRef: string,
  invoiceRef: string | null,
): Promise<boolean | undefined> {
  const [last] = await listBilledPeriods(sql, providerId, purchaseRef, 'recurring', 1)
  if (last === undefined) return undefined
  if (last.invoiceRef !== invoiceRef) return false
  return (await findInvoice(sql, providerId, invoiceRef))?.status === 'refunded'
}
