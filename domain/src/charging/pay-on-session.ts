import { findReusablePaymentMethod } from '../cards/repository.ts'
import { findInvoice } from '../invoices/repository.ts'
import { dueMinor } from '../invoices/transitions.ts'
import { lockIntentOfInvoice } from '../payments/intents-repository.ts'
import { readPayment } from '../settlement/read-payment.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { processorOf, type PaymentParts } from '../payments/payment-parts.ts'
import { beginAttempt, reconcileIntent } from '../settlement/reconcile-intent.ts'
import type { Operation } from '../unit-of-work/unit-of-work.ts'

/** State of an invoice's payment while the customer is present. */
export type OnSessionPayment =
  | { readonly kind: 'paid' }
  /** The customer has nothing to pay. */
  | { readonly kind: 'nothing' }
  /** The customer's bank requires an authentication at `url`. */
  | { readonly kind: 'authenticate'; readonly url: string }
  /** The bank has not decided yet. */
  | { readonly kind: 'processing' }
  /** The invoice is not paid: no payment was attempted, or the payment was declined. */
  | { readonly kind: 'unpaid' }

/** Reads the state of the invoice's payment from the processor. Throws PaymentProcessorUnavailableError. */
export async function readOnSessionPayment(
  parts: PaymentParts,
  operation: Operation,
  invoiceRef: string,
): Promise<OnSessionPayment> {
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
      if (processorPaymentId === null)
        throw new Error(
          `${providerId}: payment ${found.reference} requires an action and has no processor id`,
        )
      const reading = await readPayment(processorOf(parts, environment), processorPaymentId)
      const action = reading?.payment.nextAction
      return action?.kind === 'redirect'
        ? { kind: 'authenticate', url: action.url }
        : { kind: 'unpaid' }
    }
    case 'creating':
    case 'requires_payment_method':
    case 'canceled':
    case 'failed':
      return { kind: 'unpaid' }
  }
}

/**
 * Charges the saved card while the customer is present, so the bank may ask the customer to authenticate. This is one
 * more attempt of the invoice's payment, so the invoice is charged at most once even if another attempt runs at the
 * same time. Does nothing if there is nothing to charge or an attempt is in progress.
 *
 * Throws PaymentProcessorUnavailableError.
 */
export async function payOnSession(
  parts: PaymentParts,
  operation: Operation,
  invoiceRef: string,
  returnUrlOf: (intentRef: string) => string,
): Promise<OnSessionPayment> {
  const open = await findPayable(parts, operation, invoiceRef)
  if (!('kind' in open) && open.intent !== undefined && open.paymentMethodId !== undefined) {
    const { intent, paymentMethodId } = open
    const returnUrl = returnUrlOf(intent.reference)
    const parameters = { paymentMethodId, presence: 'on_session', returnUrl }
    await beginAttempt(parts, operation, intent, 'confirm', parameters)
  }
  return readOnSessionPayment(parts, operation, invoiceRef)
}

type Payable = {
  /** Undefined if the processor has no payment of the invoice that can still be confirmed. */
  readonly intent: PaymentIntent | undefined
  readonly paymentMethodId: string | undefined
}

function findPayable(
  parts: PaymentParts,
  operation: Operation,
  invoiceRef: string,
): Promise<Payable | Extract<OnSessionPayment, { kind: 'paid' | 'nothing' }>> {
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
