import type { Operation, UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import {
  findOpenAttempt,
  insertAttempt,
  recordUnknownOutcome,
  settleAttempt,
  type PaymentAttempt,
} from '../payments/attempts-repository.ts'
import { applyRefund } from './apply-refund.ts'
import { sumLostDisputes } from '../payments/disputes-repository.ts'
import { lockIntent, updateIntent } from '../payments/intents-repository.ts'
import { nextPollAt } from '../payments/poll-schedule.ts'
import { intentMetadataKey, type PaymentIntent } from '../payments/payment-intent.ts'
import { processorOf, type PaymentParts } from '../payments/payment-parts.ts'
import { sumRefunds } from '../payments/refunds-repository.ts'

/** A refused refund is tried again after 1 hour. Each further pause is 1 hour longer, up to 24 hours. */
const refusedRetryMs = 3_600_000
const refusedRetryMsMax = 24 * refusedRetryMs

/**
 * Refunds a payment that could not be delivered: a second payment of one plan, or a payment of a customer who was deleted
 * meanwhile. The processor never refunds more than was paid, whatever the key.
 */
export async function refundUndelivered(
  parts: PaymentParts,
  operation: Operation,
  intent: PaymentIntent,
  open: PaymentAttempt | undefined,
): Promise<PaymentIntent> {
  const { reference, processorPaymentId, currency } = intent
  if (processorPaymentId === null) throw new Error(`${reference} was never paid`)
  const attempt =
    open ??
    (await parts.commit(operation, async ({ sql, providerId, now }) => {
      await lockIntent(sql, providerId, reference)
      const found = await findOpenAttempt(sql, providerId, reference)
      if (found !== undefined) return found
      return insertAttempt(sql, providerId, reference, { operation: 'refund', request: {} }, now)
    }))
  const metadata = { [intentMetadataKey]: reference }
  const paid = { paymentIntentId: processorPaymentId, currency } as const
  const refund = { ...paid, reason: 'duplicate', metadata } as const
  const result = await processorOf(parts, operation.environment).createRefund(refund, attempt.key)
  return parts.commit(operation, async (work) => {
    const { sql, providerId, now } = work
    const locked = await lockIntent(sql, providerId, reference)
    if (locked === undefined) return intent
    if (result.outcome === 'unknown') {
      await recordUnknownOutcome(sql, providerId, attempt, `${result.reason}: ${result.message}`)
      return locked
    }
    const isDone =
      result.outcome === 'done' ||
      result.reason === 'already_refunded' ||
      (await isFullyReturned(work, locked))
    const message = result.outcome === 'done' ? null : result.message
    await settleAttempt(sql, providerId, attempt, isDone ? 'done' : 'refused', message, now)
    // A refund that is refused now may be possible later. It stays wanted, because the money belongs to the customer.
    const pauseMs = Math.min(attempt.number * refusedRetryMs, refusedRetryMsMax)
    const settled = { ...locked, refundWanted: !isDone, updatedAt: now }
    const pollAt = isDone ? nextPollAt(settled, now) : new Date(now.getTime() + pauseMs)
    const updated = { ...settled, nextLookAt: pollAt }
    await updateIntent(sql, providerId, updated)
    if (result.outcome === 'done') await applyRefund(work, reference, result.value)
    return updated
  })
}

/**
 * Returns whether lost disputes and refunds have already returned the whole payment. Disputed money is not refunded a second time.
 */
async function isFullyReturned(
  { sql, providerId }: UnitOfWork,
  { reference, originalAmountMinor }: PaymentIntent,
): Promise<boolean> {
  const lostMinor = await sumLostDisputes(sql, providerId, reference)
  const refunded = await sumRefunds(sql, providerId, reference)
  return lostMinor + refunded.amountMinor >= originalAmountMinor
}
