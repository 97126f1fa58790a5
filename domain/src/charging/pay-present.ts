import { findReusablePaymentMethod } from '../cards/repository.ts'
import { findInvoice } from '../invoices/repository.ts'
import { dueMinor } from '../invoices/transitions.ts'
import { lockIntentOfInvoice } from '../payments/intents-repository.ts'
import { lookAtPayment } from '../settlement/look-at-payment.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { processorOf, type PaymentParts } from '../payments/payment-parts.ts'
import { begin, reconcileIntent } from '../settlement/reconcile-intent.ts'
import type { Operation } from '../unit-of-work/unit-of-work.ts'

/** What an invoice that could not be charged comes to while its customer is there. */
export type PresentPayment =
  | { readonly kind: 'paid' }
  /** Nothing of it is to be paid by the customer. */
  | { readonly kind: 'nothing' }
  /** The customer's bank wants to hear from them, there. */
  | { readonly kind: 'asked'; readonly url: string }
  /** The bank takes its time. */
  | { readonly kind: 'processing' }
  /** To be paid yet: nobody tried, or it was turned down. */
  | { readonly kind: 'unpaid' }

/** Throws PaymentProcessorUnavailableError. */
export async function lookAtUnpaid(
  parts: PaymentParts,
  operation: Operation,
  invoiceRef: string,
): Promise<PresentPayment> {
  const { providerId, environment } = operation
  const open = await findPayable(parts, operation, invoiceRef)
  if ('kind' in open) return open
  const { intent } = open
  if (intent === undefined) return { kind: 'unpaid' }
  const found = (await reconcileIntent(parts, operation, intent.reference)) ?? intent
  switch (found.status) {
    case 'succeeded':
      return { kind: 'paid' }
    case 'processing':
      return { kind: 'processing' }
    case 'requires_action': {
      const { processorPaymentId } = found
      if (processorPaymentId === null) throw new Error(`${providerId}: ${found.reference} asks`)
      const look = await lookAtPayment(processorOf(parts, environment), processorPaymentId)
      const action = look?.payment.nextAction
      return action?.kind === 'redirect' ? { kind: 'asked', url: action.url } : { kind: 'unpaid' }
    }
    case 'creating':
    case 'requires_payment_method':
    case 'canceled':
    case 'failed':
      return { kind: 'unpaid' }
  }
}

/**
 * Charges the saved card with its customer there, whose bank may ask them: the next try of the invoice's payment, so it is
 * charged once at most, whoever tries besides. Where there is nothing to try, or somebody is at it, it stays as it is.
 *
 * Throws PaymentProcessorUnavailableError.
 */
export async function payPresent(
  parts: PaymentParts,
  operation: Operation,
  invoiceRef: string,
  returnUrlOf: (intentRef: string) => string,
): Promise<PresentPayment> {
  const open = await findPayable(parts, operation, invoiceRef)
  if (!('kind' in open) && open.intent !== undefined && open.paymentMethodId !== undefined) {
    const { intent, paymentMethodId } = open
    const returnUrl = returnUrlOf(intent.reference)
    const words = { paymentMethodId, presence: 'on_session', returnUrl }
    await begin(parts, operation, intent, 'confirm', words)
  }
  return lookAtUnpaid(parts, operation, invoiceRef)
}

type Payable = {
  /** Undefined where there is none that the processor knows of. */
  readonly intent: PaymentIntent | undefined
  readonly paymentMethodId: string | undefined
}

function findPayable(
  parts: PaymentParts,
  operation: Operation,
  invoiceRef: string,
): Promise<Payable | Extract<PresentPayment, { kind: 'paid' | 'nothing' }>> {
  return parts.commit(operation, async ({ sql, providerId }) => {
    const intent = await lockIntentOfInvoice(sql, providerId, invoiceRef)
    const invoice = await findInvoice(sql, providerId, invoiceRef)
    if (invoice?.status === 'paid') return { kind: 'paid' }
    if (invoice?.status !== 'open' || invoice.isHeld) return { kind: 'nothing' }
    const isPayable =
      intent !== undefined &&
      intent.processorPaymentId !== null &&
      !intent.cancelWanted &&
      intent.originalAmountMinor === dueMinor(invoice)
    const paymentMethodId = await findReusablePaymentMethod(sql, providerId, invoice.customerRef)
    return { intent: isPayable ? intent : undefined, paymentMethodId }
  })
}
