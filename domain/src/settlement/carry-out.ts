import type {
  NewPaymentIntent,
  PaymentConfirmation,
  PaymentProcessor,
} from '@tollgate/platform/payments/payment-processor'
import type { Decline } from '@tollgate/platform/payments/payment-objects'
import type { PaymentOutcome } from '@tollgate/platform/payments/payment-outcomes'
import type { JsonObject } from '@tollgate/schemas/json-object'
import { findCardOfMethod } from '../cards/repository.ts'
import { pipelined } from '../postgres/pipelined.ts'
import type { Operation, UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { applyLook, declineKindOf, reasonOf } from './apply-look.ts'
import {
  noteUnknown,
  savedMethodOf,
  settleAttempt,
  type PaymentAttempt,
} from '../payments/attempts-repository.ts'
import { lookAtPayment, withCard, type ChargedMethod, type PaymentLook } from './look-at-payment.ts'
import { noteSeller } from './note-seller.ts'
import { refuseIntent } from './refuse-intent.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { processorOf, type PaymentParts } from '../payments/payment-parts.ts'

export type CarriedOut =
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
      readonly isUnderWay: boolean
    }

/**
 * Makes the call of an attempt and stores the outcome. A crash before, during or after the call leaves the attempt open. The next
 * process makes the same call with the same key and parameters, and the processor carries it out once.
 */
export async function carryOut(
  parts: PaymentParts,
  operation: Operation,
  intent: PaymentIntent,
  attempt: PaymentAttempt,
): Promise<CarriedOut> {
  const processor = processorOf(parts, operation.environment)
  await noteSeller(parts, operation, intent)
  const [outcome, charged] = await Promise.all([
    call(processor, intent, attempt),
    readCharged(parts, operation, intent, attempt),
  ])
  switch (outcome.outcome) {
    case 'unknown': {
      const { reason, message } = outcome
      const told = `${reason}: ${message}`
      await parts.commit(operation, (work) => noteUnknown(work.sql, work.providerId, attempt, told))
      return { kind: 'unknown', message: told, isUnderWay: reason === 'in_progress' }
    }
    case 'refused': {
      const told = outcome.code ?? outcome.reason
      if (attempt.operation === 'create' && outcome.reason !== 'key_reused') {
        return answered(await parts.commit(operation, (work) => refuseIntent(work, attempt, told)))
      }
      return afterRefusal(parts, operation, intent, attempt, told)
    }
    case 'declined': {
      const { decline } = outcome
      if (outcome.intent === undefined) {
        const refuse = (work: UnitOfWork) =>
          refuseIntent(work, attempt, reasonOf(decline), declineKindOf(decline))
        return answered(await parts.commit(operation, refuse))
      }
      const look = await withCard(processor, outcome.intent)
      return keep(parts, operation, attempt, look, decline)
    }
    case 'open':
    case 'succeeded':
    case 'processing':
    case 'requires_action':
    case 'canceled':
      return keep(parts, operation, attempt, await withCard(processor, outcome.intent, charged))
  }
}

/** Returns the saved card that a payment of an invoice charges. For other payments, the card is read from the processor. */
async function readCharged(
  parts: PaymentParts,
  { providerId, environment }: Operation,
  { invoiceRef, customerRef }: PaymentIntent,
  attempt: PaymentAttempt,
): Promise<ChargedMethod | undefined> {
  const paymentMethodId = savedMethodOf(attempt)
  if (invoiceRef === null || paymentMethodId === undefined) return undefined
  const rows = parts.database.of(providerId).in(environment)
  const card = await rows.read((sql) =>
    findCardOfMethod(sql, providerId, customerRef, paymentMethodId),
  )
  return { paymentMethodId, card }
}

/** Returns the parameters of the call that creates a payment. */
export function wordsOf(intent: NewPaymentIntent): JsonObject {
  return { ...intent, amountMinor: intent.amountMinor.toString() }
}

async function call(
  processor: PaymentProcessor,
  { processorPaymentId, currency }: PaymentIntent,
  { operation, request, key }: PaymentAttempt,
): Promise<PaymentOutcome> {
  if (operation === 'create') {
    const words = request as unknown as NewPaymentIntent
    const payment = { ...words, amountMinor: BigInt(words.amountMinor) }
    return processor.createPaymentIntent(payment, key)
  }
  if (processorPaymentId === null) throw new Error(`attempt ${key} is about no payment`)
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

function keep(
  parts: PaymentParts,
  operation: Operation,
  attempt: PaymentAttempt,
  look: PaymentLook,
  decline?: Decline,
): Promise<CarriedOut> {
  return parts.commit(operation, async (work) => {
    const { sql, providerId, now } = work
    const settling =
      decline === undefined
        ? settleAttempt(sql, providerId, attempt, 'done', null, now)
        : settleAttempt(
            sql,
            providerId,
            attempt,
            'declined',
            reasonOf(decline),
            now,
            declineKindOf(decline),
          )
    const applying = applyLook(work, attempt.intentRef, look, parts.hostedUrl)
    const [, applied] = await pipelined([settling, applying])
    return answered(applied, look.payment.clientSecret)
  })
}

/** The processor refused the call because of the payment's state. That state is read and applied. */
async function afterRefusal(
  parts: PaymentParts,
  operation: Operation,
  { processorPaymentId }: PaymentIntent,
  attempt: PaymentAttempt,
  message: string,
): Promise<CarriedOut> {
  const processor = processorOf(parts, operation.environment)
  const look =
    processorPaymentId === null ? undefined : await lookAtPayment(processor, processorPaymentId)
  if (look === undefined) throw new Error(`${attempt.key} was refused: ${message}`)
  return parts.commit(operation, async (work) => {
    const { sql, providerId, now } = work
    await settleAttempt(sql, providerId, attempt, 'refused', message, now)
    const applied = await applyLook(work, attempt.intentRef, look, parts.hostedUrl)
    return answered(applied, look.payment.clientSecret)
  })
}

function answered(intent: PaymentIntent, clientSecret?: string): CarriedOut {
  return { kind: 'answered', intent, clientSecret }
}
