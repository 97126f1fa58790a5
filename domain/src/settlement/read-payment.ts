import type { PaymentIntent as ProcessorIntent } from '@tollgate/platform/payments/payment-objects'
import type { PaymentProcessor } from '@tollgate/platform/payments/payment-processor'
import type { CardWithMethod } from '../cards/repository.ts'

/** The processor's state of a payment at one moment. */
export type PaymentReading = {
  readonly payment: ProcessorIntent
  /** The card that paid; undefined if the payment is not paid or was not paid by card. */
  readonly card: CardWithMethod | undefined
  /** Whether the customer's saved card was charged, so that there is no new card to save. */
  readonly isCardSaved: boolean
}

/**
 * Reads a payment from the processor. Returns undefined if the processor has no such payment. Throws
 * PaymentProcessorUnavailableError.
 */
export async function readPayment(
  processor: PaymentProcessor,
  processorPaymentId: string,
): Promise<PaymentReading | undefined> {
  const payment = await processor.retrieve('payment_intent', processorPaymentId)
  return payment === undefined ? undefined : await toPaymentReading(processor, payment)
}

/** The saved payment method that a call charged. `card` is undefined if the customer saved another one meanwhile. */
export type ChargedMethod = {
  readonly paymentMethodId: string
  readonly card: CardWithMethod | undefined
}

/** Adds the card to a payment that succeeded. The card is read from the processor only if its details are not stored. */
export async function toPaymentReading(
  processor: PaymentProcessor,
  payment: ProcessorIntent,
  charged?: ChargedMethod,
): Promise<PaymentReading> {
  const { status, paymentMethodId } = payment
  const none = { payment, card: undefined, isCardSaved: false }
  if (status !== 'succeeded' || paymentMethodId === undefined) return none
  const isCardSaved = paymentMethodId === charged?.paymentMethodId
  const stored = isCardSaved ? charged?.card : undefined
  return { payment, card: stored ?? (await readCard(processor, paymentMethodId)), isCardSaved }
}

export async function readCard(
  processor: PaymentProcessor,
  paymentMethodId: string,
): Promise<CardWithMethod | undefined> {
  const method = await processor.retrievePaymentMethod(paymentMethodId)
  if (method?.card === undefined) return undefined
  // A card that belongs to a customer can be charged again. Other cards were valid for one payment only.
  return { ...method.card, paymentMethodId, reusable: method.customerId !== undefined }
}
