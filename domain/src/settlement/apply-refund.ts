import type { Refund } from '@tollgate/platform/payments/payment-objects'
import { unixSeconds } from '../periods/periods.ts'
import { recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { isLaterRefund, refundStateOf, taxOfRefund } from '../payments/decide-refund.ts'
import { lockIntent } from '../payments/intents-repository.ts'
import { refundMetadataKey, type PaymentIntent } from '../payments/payment-intent.ts'
import {
  completeRequestedRefund,
  findRequestedRefund,
  type RequestedRefund,
} from '../payments/requested-refunds-repository.ts'
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
  const request = await findRequest(work, intentRef, refund)
  const payout = request !== undefined && request.payoutRef !== null ? request : undefined
  const stored: PaymentRefund = {
    processorRefundId: refund.id,
    intentRef,
    amountMinor: refund.amountMinor,
    taxMinor: known?.taxMinor ?? (await findTaxOfRefund(work, intent, refund)),
    fromBalanceMinor: payout !== undefined ? refund.amountMinor : (known?.fromBalanceMinor ?? 0n),
    currency: refund.currency,
    status,
    reason: refund.reason ?? null,
    failureReason: refund.failureReason ?? null,
    createdAt: refund.createdAt,
  }
  const isReturned = known?.status === 'succeeded'
  await saveRefund(sql, providerId, stored, now)
  const fromBalanceMinor = await postRefund(work, intent, stored, refund, isReturned, payout)
  if (fromBalanceMinor !== stored.fromBalanceMinor)
    await saveRefund(sql, providerId, { ...stored, fromBalanceMinor }, now)
  if (request !== undefined) {
    await completeRequestedRefund(sql, providerId, { ...request, intentRef }, refund.id, now)
  }
  await emitRefundEvent(work, stored)
  if (status !== 'succeeded' && !isReturned) return
  // The part that is taken from the balance had its effects when its credit note was issued. The handler gets only the rest.
  const amountMinor = refund.amountMinor - fromBalanceMinor
  if (amountMinor === 0n && !isReturned) return
  const handler = await findHandler(work, intent)
  await handler.onRefunded(work, intent, { ...refund, amountMinor, isReturned })
}

/** Returns the request that this refund answers, whether a call of ours or a webhook reports it first. */
async function findRequest(
  { sql, providerId }: UnitOfWork,
  intentRef: string,
  { id, metadata }: Refund,
): Promise<RequestedRefund | undefined> {
  const reference = metadata[refundMetadataKey]
  if (reference === undefined) return undefined
  const request = await findRequestedRefund(sql, providerId, reference)
  const isAnswered = request?.status === 'open' || request?.processorRefundId === id
  return request?.intentRef === intentRef && isAnswered ? request : undefined
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
