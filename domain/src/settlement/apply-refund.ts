import type { Refund } from '@tollgate/platform/payments/payment-objects'
import { unixSeconds } from '../periods/periods.ts'
import { recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { isLaterRefund, refundStateOf, taxOfRefund } from '../payments/decide-refund.ts'
import { lockIntent } from '../payments/intents-repository.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { taxOf } from '../payments/taxed-terms.ts'
import { findHandler } from '../purposes/payment-handlers.ts'
import { findPostedPayment } from './post-payment.ts'
import { postRefund, postRefundSettlement } from './post-refund.ts'
import {
  findRefund,
  saveRefund,
  sumRefunds,
  type PaymentRefund,
} from '../payments/refunds-repository.ts'

/**
 * Stores the processor's state of a refund, posts it and emits its event. The handler of the payment's purpose decides what follows
 * from success.
 */
export async function applyRefund(
  work: UnitOfWork,
  intentRef: string,
  refund: Refund,
): Promise<void> {
  const { sql, providerId, now } = work
  const intent = await lockIntent(sql, providerId, intentRef)
  if (intent === undefined) throw new Error(`payment ${intentRef} is gone`)
  const known = await findRefund(sql, providerId, refund.id)
  const status = refundStateOf(refund)
  if (!isLaterRefund(known?.status, status)) {
    // The processor reports the balance movement later than the status.
    return postRefundSettlement(work, intent, { ...refund, status })
  }
  const stored: PaymentRefund = {
    processorRefundId: refund.id,
    intentRef,
    amountMinor: refund.amountMinor,
    taxMinor: known?.taxMinor ?? (await findTaxOfRefund(work, intent, refund)),
    currency: refund.currency,
    status,
    reason: refund.reason ?? null,
    failureReason: refund.failureReason ?? null,
    createdAt: refund.createdAt,
  }
  await saveRefund(sql, providerId, stored, now)
  await postRefund(work, intent, stored, refund, known?.status === 'succeeded')
  await emitRefundEvent(work, stored)
  const isReturned = known?.status === 'succeeded'
  if (status !== 'succeeded' && !isReturned) return
  const handler = await findHandler(work, intent)
  await handler.onRefunded(work, intent, { ...refund, isReturned })
}

/**
 * Returns the tax part of a refund. It is 0 if the payment delivered nothing, because no tax was posted then. It is 0 if the
 * payment paid an invoice, because the credit note states the tax.
 */
async function findTaxOfRefund(
  work: UnitOfWork,
  intent: PaymentIntent,
  { amountMinor }: Refund,
): Promise<bigint> {
  const { sql, providerId } = work
  const taxMinor = taxOf(intent)
  if (taxMinor === 0n || intent.purchaseRef === null) return 0n
  const posted = await findPostedPayment(work, intent)
  if (posted !== undefined && posted.invoiceRef !== null) return 0n
  const before = await sumRefunds(sql, providerId, intent.reference)
  const payment = {
    totalMinor: intent.originalAmountMinor,
    taxMinor,
    refundedMinor: before.amountMinor,
    refundedTaxMinor: before.taxMinor,
  }
  return taxOfRefund(payment, amountMinor)
}

async function emitRefundEvent(work: UnitOfWork, refund: PaymentRefund): Promise<void> {
  const { status, failureReason, reason } = refund
  const object = {
    id: refund.processorRefundId,
    amount: Number(refund.amountMinor),
    currency: refund.currency.toLowerCase(),
    processor_refund: refund.processorRefundId,
    reason: reason ?? 'requested_by_customer',
    created: unixSeconds(refund.createdAt),
  }
  switch (status) {
    case 'pending':
      return recordEvent(work, 'payment.refund_pending', { ...object, status })
    case 'succeeded':
      return recordEvent(work, 'payment.refunded', object)
    case 'failed':
    case 'canceled': {
      const failure_reason = failureReason ?? status
      return recordEvent(work, 'payment.refund_failed', { ...object, failure_reason })
    }
  }
}
