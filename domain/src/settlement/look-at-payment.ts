import type { PaymentIntent as ProcessorIntent } from '@tollgate/platform/payments/payment-objects'
import type { PaymentProcessor } from '@tollgate/platform/payments/payment-processor'
import type { SeenCard } from '../cards/repository.ts'

/** A payment as the processor had it at one moment. */
export type PaymentLook = {
  readonly payment: ProcessorIntent
  /** What it was paid with; undefined while nothing was, or where that was no card. */
  readonly card: SeenCard | undefined
  /** Whether it was charged as the customer's saved card: paying with it saves nothing. */
  readonly isCardSaved: boolean
}

/** Throws PaymentProcessorUnavailableError. Undefined: the processor knows of no such payment. */
export async function lookAtPayment(
  processor: PaymentProcessor,
  processorPaymentId: string,
): Promise<PaymentLook | undefined> {
  const payment = await processor.retrieve('payment_intent', processorPaymentId)
  return payment === undefined ? undefined : await withCard(processor, payment)
}

/** The saved payment method that a call charged; `card` is missing where the customer saved another one meanwhile. */
export type ChargedMethod = {
  readonly paymentMethodId: string
  readonly card: SeenCard | undefined
}

/** Adds the card that paid, once one did. The processor is not asked about a charged card whose details are stored. */
export async function withCard(
  processor: PaymentProcessor,
  payment: ProcessorIntent,
  charged?: ChargedMethod,
): Promise<PaymentLook> {
  const { status, paymentMethodId } = payment
  const none = { payment, card: undefined, isCardSaved: false }
  if (status !== 'succeeded' || paymentMethodId === undefined) return none
  const isCardSaved = paymentMethodId === charged?.paymentMethodId
  const stored = isCardSaved ? charged?.card : undefined
  return { payment, card: stored ?? (await lookAtCard(processor, paymentMethodId)), isCardSaved }
}

export async function lookAtCard(
  processor: PaymentProcessor,
  paymentMethodId: string,
): Promise<SeenCard | undefined> {
  const method = await processor.retrievePaymentMethod(paymentMethodId)
  if (method?.card === undefined) return undefined
  // One that belongs to a customer can be charged again; another one was good for one payment.
  return { ...method.card, paymentMethodId, reusable: method.customerId !== undefined }
}
