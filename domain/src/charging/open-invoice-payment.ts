import type { Customer } from '../customers/repository.ts'
import { lockInvoice } from '../invoices/repository.ts'
import { dueMinor } from '../invoices/transitions.ts'
import { executeAttempt } from '../settlement/execute-attempt.ts'
import { lockIntentOfInvoice } from '../payments/intents-repository.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import type { PaymentParts } from '../payments/payment-parts.ts'
import { requireProcessorCustomer } from '../payments/processor-customers.ts'
import { reconcileIntent } from '../settlement/reconcile-intent.ts'
import type { OpenedIntent } from '../settlement/open-intent.ts'
import type { Operation, UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { openCustomerPayment } from './begin-charge.ts'

/** The payment of an invoice that the customer makes with any card. */
export type CustomerInvoicePayment =
  | { readonly kind: 'open'; readonly intent: PaymentIntent }
  /** Another payment of the invoice must end first: it is being cancelled, or the processor has not answered yet. */
  | { readonly kind: 'busy' }
  /** Nothing is due, or a person must decide how the invoice is paid. */
  | { readonly kind: 'nothing' }

type BegunPayment = CustomerInvoicePayment | ({ readonly kind: 'send' } & OpenedIntent)

/**
 * Returns the payment of an open or uncollectible invoice for the customer to confirm: the payment of the automatic
 * charges, or a new one. An invoice has one open payment at a time, and a payment succeeds at most once, so the invoice
 * is paid once even if an automatic charge runs at the same time. The new payment and its call are committed before the
 * call. After a crash in between, the next request finds them and answers 'busy' until the reconciliation knows whether
 * the call has arrived.
 *
 * Throws PaymentProcessorUnavailableError, and PaymentUnknownError if the customer cannot be registered at the
 * processor.
 */
export async function openInvoicePayment(
  parts: PaymentParts,
  operation: Operation,
  customer: Customer,
  invoiceRef: string,
): Promise<CustomerInvoicePayment> {
  const processorCustomerId = await requireProcessorCustomer(parts, operation, customer)
  const begun = await parts.commit(operation, (work) =>
    beginPayment(work, invoiceRef, processorCustomerId),
  )
  switch (begun.kind) {
    case 'send': {
      const sent = await executeAttempt(parts, operation, begun.intent, begun.attempt)
      return sent.kind === 'answered' ? openOrBusy(sent.intent) : { kind: 'busy' }
    }
    case 'open':
      return openOrBusy(
        (await reconcileIntent(parts, operation, begun.intent.reference)) ?? begun.intent,
      )
    case 'busy':
    case 'nothing':
      return begun
  }
}

async function beginPayment(
  work: UnitOfWork,
  invoiceRef: string,
  processorCustomerId: string,
): Promise<BegunPayment> {
  const { sql, providerId } = work
  // The payment intent is locked before the invoice, in the same order as when a payment succeeds.
  const intent = await lockIntentOfInvoice(sql, providerId, invoiceRef)
  const invoice = await lockInvoice(sql, providerId, invoiceRef)
  const isPayable = invoice?.status === 'open' || invoice?.status === 'uncollectible'
  if (!isPayable || invoice.isHeld || dueMinor(invoice) <= 0n) return { kind: 'nothing' }
  if (intent === undefined) {
    return { kind: 'send', ...(await openCustomerPayment(work, invoice, processorCustomerId)) }
  }
  const isOther = intent.cancelWanted || intent.originalAmountMinor !== dueMinor(invoice)
  return isOther ? { kind: 'busy' } : { kind: 'open', intent }
}

function openOrBusy(intent: PaymentIntent): CustomerInvoicePayment {
  if (intent.processorPaymentId === null || intent.cancelWanted) return { kind: 'busy' }
  return { kind: 'open', intent }
}
