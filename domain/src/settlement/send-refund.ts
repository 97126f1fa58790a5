import type { Refund } from '@tollgate/platform/payments/payment-objects'
import { findIntent, lockIntent } from '../payments/intents-repository.ts'
import {
  intentMetadataKey,
  refundMetadataKey,
  type PaymentIntent,
} from '../payments/payment-intent.ts'
import { processorOf, type PaymentParts } from '../payments/payment-parts.ts'
import { callKeyAfter } from '../payments/refund-call-keys.ts'
import {
  completeRequestedRefund,
  findRequestedRefund,
  updateOpenRefund,
  type RequestedRefund,
} from '../payments/requested-refunds-repository.ts'
import type { Operation, UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { applyRefund } from './apply-refund.ts'
import { cannotRepeat } from './reconcile-intent.ts'
import { returnPayout } from './return-payout.ts'

/** A call with an unknown outcome is repeated after 1 minute. Each further pause is 1 minute longer, up to 1 hour. */
const pauseMs = 60_000
const pauseMsMax = 60 * pauseMs

/** The search begins this long before the call was sent, because the processor's clock may differ from ours. */
const searchFromMs = 3_600_000

type RefundedPayment = { readonly reference: string; readonly processorPaymentId: string }

/**
 * Makes the call of a requested refund and applies the answer. Does nothing if the answer is known.
 *
 * The request is committed before the call. A crash before, during or after the call leaves it open, and the next process makes the
 * same call with the same key, so the processor makes one refund. A webhook may report the refund first: it names its request.
 */
export async function sendRefund(
  parts: PaymentParts,
  operation: Operation,
  reference: string,
): Promise<void> {
  const { providerId, environment } = operation
  const rows = parts.database.of(providerId).in(environment)
  const request = await rows.read((sql) => findRequestedRefund(sql, providerId, reference))
  if (request?.status !== 'open' || request.intentRef === null) return
  const { intentRef } = request
  const intent = await rows.read((sql) => findIntent(sql, providerId, intentRef))
  const processorPaymentId = intent?.processorPaymentId ?? null
  if (processorPaymentId === null) throw new Error(`${intentRef} was never paid`)
  const paid = { reference: intentRef, processorPaymentId }
  if (cannotRepeat(request, parts.now())) return searchRefund(parts, operation, request, paid)
  return callProcessor(parts, operation, request, paid)
}

async function callProcessor(
  parts: PaymentParts,
  operation: Operation,
  request: RequestedRefund,
  { reference: intentRef, processorPaymentId }: RefundedPayment,
): Promise<void> {
  const { amountMinor, currency, callKey, sends } = request
  const metadata = { [intentMetadataKey]: intentRef, [refundMetadataKey]: request.reference }
  const reason = 'requested_by_customer'
  const refund = {
    paymentIntentId: processorPaymentId,
    amountMinor,
    currency,
    reason,
    metadata,
  } as const
  const result = await processorOf(parts, operation.environment).createRefund(refund, callKey)
  await parts.commit(operation, async (work) => {
    const { sql, providerId, now } = work
    const intent = await lockIntent(sql, providerId, intentRef)
    if (result.outcome === 'done') return storeRefund(work, request, intentRef, result.value)
    const message = `${result.reason}: ${result.message}`
    const isRefused = result.outcome === 'refused' && result.reason !== 'key_reused'
    if (isRefused) return storeRefusal(work, request, intent, message)
    // A key that was used with other parameters, of another release, belongs to a call that may have made the refund.
    const dueAt = new Date(now.getTime() + Math.min((sends + 1) * pauseMs, pauseMsMax))
    await updateOpenRefund(sql, providerId, request, { sends: sends + 1, message, dueAt }, now)
  })
}

/** Stores that the processor did not make the refund. A part of the balance that was to be paid out is returned to it. */
async function storeRefusal(
  work: UnitOfWork,
  request: RequestedRefund,
  intent: PaymentIntent | undefined,
  message: string,
): Promise<void> {
  const { sql, providerId, now } = work
  const refused = { status: 'refused', message, dueAt: null } as const
  const isRefused = await updateOpenRefund(sql, providerId, request, refused, now)
  if (!isRefused || request.payoutRef === null) return
  const { invoiceRef: reference = null, customerRef } = intent ?? {}
  if (reference === null || customerRef === undefined)
    throw new Error(`${request.intentRef} is gone`)
  await returnPayout(work, request, { reference, customerRef }, message)
}

/**
 * Searches the refund at the processor after it has forgotten the key of the call. A refund that is not found was never made, so it is
 * made under a new key.
 */
async function searchRefund(
  parts: PaymentParts,
  operation: Operation,
  request: RequestedRefund,
  { reference: intentRef, processorPaymentId }: RefundedPayment,
): Promise<void> {
  // A request is sent when it is created or later. On a test clock, the time of its creation is ahead of the processor's.
  const firstSentMs = Math.min(request.createdAt.getTime(), request.sentAt.getTime())
  const createdFrom = new Date(firstSentMs - searchFromMs)
  let found: Refund | undefined
  for await (const each of processorOf(parts, operation.environment).list('refund', {
    createdFrom,
  })) {
    const isOurs = each.metadata[refundMetadataKey] === request.reference
    if (isOurs && each.paymentIntentId === processorPaymentId) found = each
  }
  await parts.commit(operation, async (work) => {
    const { sql, providerId, now } = work
    await lockIntent(sql, providerId, intentRef)
    if (found !== undefined) return storeRefund(work, request, intentRef, found)
    // The next round of the job makes the call. If two processes search at once, only one changes the key.
    const anew = { callKey: callKeyAfter(request.callKey), sentAt: now, sends: 0, dueAt: now }
    await updateOpenRefund(sql, providerId, request, anew, now)
  })
}

/** Stores the refund, and completes the request also if the refund was stored before. */
async function storeRefund(
  work: UnitOfWork,
  { reference }: RequestedRefund,
  intentRef: string,
  refund: Refund,
): Promise<void> {
  const { sql, providerId, now } = work
  await applyRefund(work, intentRef, refund)
  await completeRequestedRefund(sql, providerId, { reference, intentRef }, refund.id, now)
}
