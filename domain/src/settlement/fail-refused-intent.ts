import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import {
  settleAttempt,
  type AttemptDecline,
  type PaymentAttempt,
} from '../payments/attempts-repository.ts'
import { lockIntent, updateIntent } from '../payments/intents-repository.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { recordPaymentFailure } from '../payments/payment-event.ts'
import { paysInvoice } from '../payments/payment-purpose.ts'
import { canIntentMove, intentTransitions } from '../payments/transitions.ts'
import { handlePaymentFailure } from './deliver-payment.ts'

/** Fails a payment that the processor refused to create, so there is nothing at the processor that could be paid. */
export async function failRefusedIntent(
  work: UnitOfWork,
  attempt: PaymentAttempt,
  reason: string,
  decline: AttemptDecline | null = null,
): Promise<PaymentIntent> {
  const { sql, providerId, now } = work
  const intent = await lockIntent(sql, providerId, attempt.intentRef)
  if (intent === undefined) throw new Error(`payment ${attempt.intentRef} is gone`)
  await settleAttempt(sql, providerId, attempt, 'refused', reason, now, decline)
  if (!canIntentMove(intent.status, 'refused')) return intent
  const { to: status } = intentTransitions.refused
  const failed = { ...intent, status, failureReason: reason, nextLookAt: null, updatedAt: now }
  // The amount is charged with the next invoice, so no failure event is emitted.
  const isTooSmall = paysInvoice(intent) && reason === 'amount_too_small'
  if (!isTooSmall) await recordPaymentFailure(work, failed, reason)
  await updateIntent(sql, providerId, failed)
  await handlePaymentFailure(work, failed, isTooSmall)
  return failed
}
