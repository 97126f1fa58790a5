import type { PaymentIntent as ProcessorIntent } from '@tollgate/platform/payments/payment-objects'
import type { PaymentProcessor } from '@tollgate/platform/payments/payment-processor'
import type { SeenCard } from '../cards/repository.ts'
import type { PaymentLook } from './apply-look.ts'

/** Throws PaymentProcessorUnavailableError. Undefined: the processor knows of no such payment. */
export async function lookAtPayment(
  processor: PaymentProcessor,
  processorPaymentId: string,
): Promise<PaymentLook | undefined> {
  const payment = await processor.retrieve('payment_intent', processorPaymentId)
  return payment === undefined ? undefined : await withCard(processor, payment)
}

/** With what it was paid with, once it was, unless that is `known`: a card that is kept already. */
export async function withCard(
  processor: PaymentProcessor,
  payment: ProcessorIntent,
  known?: string,
): Promise<PaymentLook> {
  const { status, paymentMethodId } = payment
  const isTold = status === 'succeeded' && paymentMethodId !== known
  if (!isTold || paymentMethodId === undefined) return { payment, card: undefined }
  return { payment, card: await lookAtCard(processor, paymentMethodId) }
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
