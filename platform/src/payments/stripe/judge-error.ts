import Stripe from 'stripe'
import type { PaymentIntent, SetupIntent } from '../payment-objects.ts'
import { outcomeOf, type IntentOutcome, type Refused, type Unknown } from '../payment-outcomes.ts'
import { declineOf } from './decline-of.ts'
import { paymentIntentFrom, setupIntentFrom, UnreadableAnswerError } from './from-stripe.ts'
import { LateAnswerError } from './in-time.ts'
import { AmountTooLargeError } from './to-stripe.ts'

type CardDeclined = Extract<IntentOutcome<PaymentIntent>, { intent: undefined }>

/**
 * Converts an error of a write to its outcome. Only an explicit answer of Stripe is a decline or a refusal; any other failure may
 * have happened after the effect and is `unknown`. An error that is not Stripe's is a bug and is thrown again.
 */
export function judgeError(error: unknown): CardDeclined | Refused | Unknown {
  if (error instanceof LateAnswerError) return unknown('timeout', error)
  if (error instanceof UnreadableAnswerError) return unknown('unreadable', error)
  if (error instanceof AmountTooLargeError) {
    return {
      outcome: 'refused',
      reason: 'amount_too_large',
      code: undefined,
      message: error.message,
    }
  }
  const { StripeError, StripeCardError, StripeInvalidRequestError } = Stripe.errors
  if (!(error instanceof StripeError)) throw error
  if (isInProgress(error)) return unknown('in_progress', error)
  if (error instanceof StripeCardError) return judgeCardError(error)
  if (error instanceof StripeInvalidRequestError) return refused(reasonOf(error), error)
  if (error instanceof Stripe.errors.StripeIdempotencyError) return refused('key_reused', error)
  return unknown(unknownReasonOf(error), error)
}

/** Converts an error of a write to a payment intent. If the error contains the intent, the intent's state decides. */
export function judgePaymentError(error: unknown): IntentOutcome<PaymentIntent> {
  const intent = error instanceof Stripe.errors.StripeError ? error.payment_intent : undefined
  return withIntent(error, intent === undefined ? undefined : paymentIntentFrom(intent))
}

export function judgeSetupError(error: unknown): IntentOutcome<SetupIntent> {
  const intent = error instanceof Stripe.errors.StripeError ? error.setup_intent : undefined
  return withIntent(error, intent === undefined ? undefined : setupIntentFrom(intent))
}

function withIntent<Intent extends PaymentIntent | SetupIntent>(
  error: unknown,
  intent: Intent | undefined,
): IntentOutcome<Intent> {
  const judged = judgeError(error)
  if (intent === undefined || judged.outcome === 'unknown') return judged
  if (judged.outcome === 'declined') return { outcome: 'declined', intent, decline: judged.decline }
  const isFinal = intent.status === 'succeeded' || intent.status === 'canceled'
  const isMoving = intent.status === 'processing'
  return judged.reason === 'unexpected_state' && (isFinal || isMoving) ? outcomeOf(intent) : judged
}

/** Returns whether the requested object does not exist. */
export function isMissing(error: unknown): boolean {
  return error instanceof Stripe.errors.StripeError && error.code === 'resource_missing'
}

/** Stripe also answers 402 to requests that failed before any card was charged. */
function judgeCardError(error: Stripe.errors.StripeError): CardDeclined | Refused {
  if (error.rawType !== 'card_error') return refused('invalid', error)
  return { outcome: 'declined', intent: undefined, decline: declineOf(error) }
}

/** Returns whether another request with this key or on this object is in progress. */
function isInProgress(error: Stripe.errors.StripeError): boolean {
  return error.statusCode === 409 || error.code === 'lock_timeout'
}

function reasonOf(error: Stripe.errors.StripeError): Refused['reason'] {
  switch (error.code) {
    case 'amount_too_small':
    case 'amount_too_large':
      return error.code
    case 'charge_already_refunded':
      return 'already_refunded'
    case 'resource_missing':
      return 'not_found'
    case 'payment_intent_unexpected_state':
    case 'setup_intent_unexpected_state':
      return 'unexpected_state'
    default:
      return 'invalid'
  }
}

function unknownReasonOf(error: Stripe.errors.StripeError): Unknown['reason'] {
  const { errors } = Stripe
  if (error instanceof errors.StripeRateLimitError) return 'rate_limited'
  if (error instanceof errors.StripeAuthenticationError) return 'not_permitted'
  if (error instanceof errors.StripePermissionError) return 'not_permitted'
  if (error instanceof errors.StripeConnectionError) return isLate(error) ? 'timeout' : 'connection'
  return 'server_error'
}

function isLate(error: Stripe.errors.StripeError): boolean {
  const { detail } = error
  return detail instanceof Error && 'code' in detail && detail.code === 'ETIMEDOUT'
}

function refused(reason: Refused['reason'], error: Stripe.errors.StripeError): Refused {
  return { outcome: 'refused', reason, code: error.code, message: error.message }
}

function unknown(reason: Unknown['reason'], { message }: Error): Unknown {
  return { outcome: 'unknown', reason, message }
}
