import type {
  NewPaymentIntent,
  PaymentConfirmation,
  PaymentProcessor,
} from '@tollgate/platform/payments/payment-processor'
import type { PaymentOutcome } from '@tollgate/platform/payments/payment-outcomes'
import type { JsonObject } from '@tollgate/schemas/json-object'
import { findCardOfMethod } from '../cards/repository.ts'
import { pipelined } from '../postgres/pipelined.ts'
import type { Operation, UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { applyPaymentState, declineKindOf, reasonOf } from './apply-payment-state.ts'
import {
  recordUnknownOutcome,
  savedCardOf,
  settleAttempt,
  type AttemptDecline,
  type PaymentAttempt,
} from '../payments/attempts-repository.ts'
import {
  readPayment,
  toPaymentReading,
  type ChargedMethod,
  type PaymentReading,
} from './read-payment.ts'
import { ensureSellerName } from './ensure-seller-name.ts'
import { failRefusedIntent } from './fail-refused-intent.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { processorOf, type PaymentParts } from '../payments/payment-parts.ts'

export type ExecutedAttempt =
  /** The processor has answered. `intent` is the resulting state. */
  | {
      readonly kind: 'answered'
      readonly intent: PaymentIntent
      /** Secret for the customer's browser only. */
      readonly clientSecret: string | undefined
    }
  /** The outcome is unknown. The call must be repeated under the same key. */
  | {
      readonly kind: 'unknown'
      readonly message: string
      /** Another process is making the same call at this moment. */
      readonly isInProgress: boolean
    }

/**
 * Makes the call of an attempt and stores the outcome. A crash before, during or after the call leaves the attempt open. The next
 * process makes the same call with the same key and parameters, and the processor carries it out once.
 */
export async function executeAttempt(
  parts: PaymentParts,
  operation: Operation,
  intent: PaymentIntent,
  attempt: PaymentAttempt,
): Promise<ExecutedAttempt> {
  const processor = processorOf(parts, operation.environment)
  await ensureSellerName(parts, operation, intent)
  const [outcome, charged] = await Promise.all([
    makeCall(processor, intent, attempt),
    readChargedCard(parts, operation, intent, attempt),
  ])
  switch (outcome.outcome) {
    case 'unknown': {
      const { reason } = outcome
      const message = `${reason}: ${outcome.message}`
      await parts.commit(operation, (work) =>
        recordUnknownOutcome(work.sql, work.providerId, attempt, message),
      )
      return { kind: 'unknown', message, isInProgress: reason === 'in_progress' }
    }
    case 'refused': {
      const reason = outcome.code ?? outcome.reason
      if (attempt.operation === 'create' && outcome.reason !== 'key_reused') {
        return answered(
          await parts.commit(operation, (work) => failRefusedIntent(work, attempt, reason)),
        )
      }
      return applyStateAfterRefusal(parts, operation, intent, attempt, reason)
    }
    case 'declined': {
      const { decline } = outcome
      if (outcome.intent === undefined) {
        const refuse = (work: UnitOfWork) =>
          failRefusedIntent(work, attempt, reasonOf(decline), declineKindOf(decline))
        return answered(await parts.commit(operation, refuse))
      }
      const reading = await toPaymentReading(processor, outcome.intent)
      const [reason, kind] = [reasonOf(decline), declineKindOf(decline)]
      return storeOutcome(parts, operation, { attempt, reading }, 'declined', reason, kind)
    }
    case 'open':
    case 'succeeded':
    case 'processing':
    case 'requires_action':
    case 'canceled': {
      const reading = await toPaymentReading(processor, outcome.intent, charged)
      return storeOutcome(parts, operation, { attempt, reading }, 'done')
    }
  }
}

/** Returns the saved card that a payment of an invoice charges. For other payments, the card is read from the processor. */
async function readChargedCard(
  parts: PaymentParts,
  { providerId, environment }: Operation,
  { invoiceRef, customerRef }: PaymentIntent,
  attempt: PaymentAttempt,
): Promise<ChargedMethod | undefined> {
  const paymentMethodId = savedCardOf(attempt)
  if (invoiceRef === null || paymentMethodId === undefined) return undefined
  const rows = parts.database.of(providerId).in(environment)
  const card = await rows.read((sql) =>
    findCardOfMethod(sql, providerId, customerRef, paymentMethodId),
  )
  return { paymentMethodId, card }
}

/** Returns the parameters of the call that creates a payment. */
export function createParametersOf(intent: NewPaymentIntent): JsonObject {
  return { ...intent, amountMinor: intent.amountMinor.toString() }
}

async function makeCall(
  processor: PaymentProcessor,
  { processorPaymentId, currency }: PaymentIntent,
  { operation, request, key }: PaymentAttempt,
): Promise<PaymentOutcome> {
  if (operation === 'create') {
    const words = request as unknown as NewPaymentIntent
    const payment = { ...words, amountMinor: BigInt(words.amountMinor) }
    return processor.createPaymentIntent(payment, key)
  }
  if (processorPaymentId === null) throw new Error(`attempt ${key} has no payment at the processor`)
  switch (operation) {
    case 'confirm': {
      const words = request as Partial<PaymentConfirmation>
      const { paymentMethodId, presence = 'off_session', returnUrl } = words
      const confirmation = { paymentMethodId: String(paymentMethodId), presence, returnUrl }
      return processor.confirmPaymentIntent(processorPaymentId, confirmation, key)
    }
    case 'change': {
      const amountMinor = BigInt(String(request['originalAmountMinor']))
      return processor.changePaymentIntent(processorPaymentId, { amountMinor, currency }, key)
    }
    case 'cancel':
      return processor.cancelPaymentIntent(processorPaymentId, key)
    case 'refund':
      throw new Error(`attempt ${key} is a refund`)
  }
}

/** Settles the attempt and applies the payment's state in one transaction. */
function storeOutcome(
  parts: PaymentParts,
  operation: Operation,
  { attempt, reading }: { readonly attempt: PaymentAttempt; readonly reading: PaymentReading },
  outcome: 'done' | 'declined' | 'refused',
  message: string | null = null,
  decline?: AttemptDecline,
): Promise<ExecutedAttempt> {
  return parts.commit(operation, async (work) => {
    const { sql, providerId, now } = work
    const [, applied] = await pipelined([
      settleAttempt(sql, providerId, attempt, outcome, message, now, decline),
      applyPaymentState(work, attempt.intentRef, reading, parts.hostedUrl),
    ])
    return answered(applied, reading.payment.clientSecret)
  })
}

/** The processor refused the call because of the payment's state. That state is read and applied. */
async function applyStateAfterRefusal(
  parts: PaymentParts,
  operation: Operation,
  { processorPaymentId }: PaymentIntent,
  attempt: PaymentAttempt,
  message: string,
): Promise<ExecutedAttempt> {
  const processor = processorOf(parts, operation.environment)
  const reading =
    processorPaymentId === null ? undefined : await readPayment(processor, processorPaymentId)
  if (reading === undefined) throw new Error(`${attempt.key} was refused: ${message}`)
  return storeOutcome(parts, operation, { attempt, reading }, 'refused', message)
}

function answered(intent: PaymentIntent, clientSecret?: string): ExecutedAttempt {
  return { kind: 'answered', intent, clientSecret }
}
