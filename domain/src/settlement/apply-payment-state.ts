import type {
  Decline,
  PaymentIntent as ProcessorIntent,
} from '@tollgate/platform/payments/payment-objects'
import { outcomeOf } from '@tollgate/platform/payments/payment-outcomes'
import { holdCarried } from '../invoices/carried-amounts.ts'
import { pipelined } from '../postgres/pipelined.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { settleAttemptByState, type AttemptDecline } from '../payments/attempts-repository.ts'
import { withProcessorAmount } from './processor-amount.ts'
import { handlePaymentFailure, paidWithOf, deliverPayment } from './deliver-payment.ts'
import type { PaymentReading } from './read-payment.ts'
import { lockIntent, updateIntent } from '../payments/intents-repository.ts'
import { nextPollAt } from '../payments/poll-schedule.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { endsWhenDeclined } from '../payments/payment-purpose.ts'
import { postSettlement } from './post-payment.ts'
import { recordPaymentEnd, recordPaymentFailure } from '../payments/payment-event.ts'
import {
  canIntentMove,
  intentTransitions,
  isFinal,
  type IntentTrigger,
} from '../payments/transitions.ts'

/**
 * Applies the processor's state to an intent and delivers what was paid for. The result does not depend on how often or in which
 * order states are applied, and each event is emitted once: the row is locked, a final state is never left, and a decline is
 * identified by its charge.
 */
export async function applyPaymentState(
  work: UnitOfWork,
  reference: string,
  reading: PaymentReading,
  hostedUrl: string,
): Promise<PaymentIntent> {
  const { sql, providerId, now } = work
  const locked = await lockIntent(sql, providerId, reference)
  if (locked === undefined) throw new Error(`payment ${reference} is gone`)
  if (isFinal(locked.status)) return completeFinalPayment(work, locked, reading)
  const priced = await withProcessorAmount(sql, providerId, locked, reading.payment)
  if (priced === undefined) return locked
  const found = await recordDecline(
    work,
    { ...priced, processorPaymentId: reading.payment.id },
    reading.payment,
  )
  const trigger = triggerOf(found, reading.payment)
  if (!canIntentMove(found.status, trigger)) return found
  const { to: status, event } = intentTransitions[trigger]
  const moved: PaymentIntent = { ...found, status, updatedAt: now }
  const isNewEnd = event !== undefined && status !== found.status
  const [, ended] = await pipelined([
    isNewEnd ? recordPaymentEnd(work, event, moved) : undefined,
    trigger === 'succeeded' ? deliverPayment(work, moved, reading, hostedUrl) : moved,
  ])
  const updated = { ...ended, nextLookAt: nextPollAt(ended, now) }
  const { lastDecline } = reading.payment
  const decline = trigger === 'opened' && lastDecline ? declineKindOf(lastDecline) : null
  // A change of the tax can leave less for the balance to pay. The order of locks is payment, customer, balance.
  const releasedMinor = locked.fromBalanceMinor - found.fromBalanceMinor
  if (releasedMinor !== 0n) await holdCarried(sql, providerId, locked, -releasedMinor, now)
  await pipelined([
    updateIntent(sql, providerId, updated),
    settleAttemptByState(sql, providerId, reference, isFinal(updated.status), decline, now),
  ])
  if (isFinal(updated.status) && updated.status !== 'succeeded')
    await handlePaymentFailure(work, updated, false)
  return updated
}

/**
 * Completes a payment that is already final. The settlement amounts may arrive later than the success. Payments from before their
 * card was stored also get the payment method that paid.
 */
async function completeFinalPayment(
  work: UnitOfWork,
  intent: PaymentIntent,
  { payment: { settlement, paymentMethodId }, card }: PaymentReading,
): Promise<PaymentIntent> {
  const { sql, providerId, now } = work
  const { status, settlementWanted } = intent
  const isSettled = settlementWanted && settlement !== undefined
  const knownMethodId = status === 'succeeded' ? (paymentMethodId ?? null) : null
  const paidMethodId = intent.paidMethodId ?? knownMethodId
  const paidWith = intent.paidWith ?? (status === 'succeeded' ? paidWithOf(card) : null)
  const isKnown = paidMethodId === intent.paidMethodId && paidWith === intent.paidWith
  if (!settlementWanted && isKnown) return intent
  if (isSettled) await postSettlement(work, intent, settlement)
  const isWanted = settlementWanted && !isSettled
  const completed = { ...intent, paidMethodId, paidWith, settlementWanted: isWanted }
  const updated = { ...completed, nextLookAt: nextPollAt(completed, now) }
  await updateIntent(sql, providerId, updated)
  return updated
}

function triggerOf({ failureReason }: PaymentIntent, payment: ProcessorIntent): IntentTrigger {
  switch (outcomeOf(payment).outcome) {
    case 'open':
    case 'declined':
      return 'opened'
    case 'requires_action':
      return 'action-required'
    case 'processing':
      return 'processing'
    case 'succeeded':
      return 'succeeded'
    case 'canceled':
      // A failure event was emitted when the card was declined.
      return failureReason === null ? 'canceled' : 'given-up'
  }
}

/** Emits a failure event once for each declined charge, or once for each decline code if there was no charge. */
async function recordDecline(
  work: UnitOfWork,
  intent: PaymentIntent,
  { lastDecline, chargeId }: ProcessorIntent,
): Promise<PaymentIntent> {
  if (lastDecline === undefined) return intent
  const decline = chargeId ?? `${lastDecline.code}:${lastDecline.declineCode ?? ''}`
  if (intent.declinedCharges.includes(decline)) return intent
  await recordPaymentFailure(work, intent, reasonOf(lastDecline))
  const { paymentMethodId, declinedCharges } = intent
  const isOffSession = paymentMethodId !== null
  return {
    ...intent,
    declinedCharges: [...declinedCharges, decline],
    failureReason: isOffSession ? reasonOf(lastDecline) : null,
    cancelWanted: intent.cancelWanted || endsWhenDeclined(intent),
  }
}

export function declineKindOf({ isHard, needsCustomer }: Decline): AttemptDecline {
  return needsCustomer ? 'customer' : isHard ? 'hard' : 'soft'
}

export function reasonOf({ code, declineCode }: Decline): string {
  return declineCode ?? code
}
