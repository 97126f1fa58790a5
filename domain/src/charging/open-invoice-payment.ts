import type { Customer } from '../customers/repository.ts'
import { lockInvoice } from '../invoices/repository.ts'
import { dueMinor } from '../invoices/transitions.ts'
import { carryOut } from '../settlement/carry-out.ts'
import { lockIntentOfInvoice } from '../payments/intents-repository.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import type { PaymentParts } from '../payments/payment-parts.ts'
import { requireProcessorCustomer } from '../payments/processor-customers.ts'
import { reconcileIntent } from '../settlement/reconcile-intent.ts'
import type { OpenedIntent } from '../settlement/open-intent.ts'
import type { Operation, UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { openPaymentByCustomer } from './begin-charge.ts'

/** The payment of an invoice that its customer makes with any card. */
export type InvoicePayment =
  | { readonly kind: 'open'; readonly intent: PaymentIntent }
  /** Another payment of it ends first: it is being withdrawn, or the processor has not answered yet. */
  | { readonly kind: 'busy' }
  /** Nothing of it is due, or it is for a person to decide how it is paid. */
  | { readonly kind: 'nothing' }

type Begun = InvoicePayment | ({ readonly kind: 'send' } & OpenedIntent)

/**
 * The payment of an open or uncollectible invoice, for its customer to confirm: the payment that the saved card was tried
 * with, or a new one. An invoice has one open payment at a time, and a payment succeeds once at most, so the invoice is
 * charged once, whoever else charges it. The new payment and its call are committed before the call: cut off after that,
 * the next request finds them and answers 'busy' until the reconciliation knows whether the call has arrived.
 *
 * Throws PaymentProcessorUnavailableError, and PaymentUnknownError where the processor does not know the customer yet.
 */
export async function openInvoicePayment(
  parts: PaymentParts,
  operation: Operation,
  customer: Customer,
  invoiceRef: string,
): Promise<InvoicePayment> {
  const processorCustomerId = await requireProcessorCustomer(parts, operation, customer)
  const begun = await parts.commit(operation, (work) =>
    beginPayment(work, invoiceRef, processorCustomerId),
  )
  switch (begun.kind) {
    case 'send': {
      const sent = await carryOut(parts, operation, begun.intent, begun.attempt)
      return sent.kind === 'answered' ? payable(sent.intent) : { kind: 'busy' }
    }
    case 'open':
      return payable(
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
): Promise<Begun> {
  const { sql, providerId } = work
  // The payment before what it pays, as when it succeeds.
  const intent = await lockIntentOfInvoice(sql, providerId, invoiceRef)
  const invoice = await lockInvoice(sql, providerId, invoiceRef)
  const isOwed = invoice?.status === 'open' || invoice?.status === 'uncollectible'
  if (!isOwed || invoice.isHeld || dueMinor(invoice) <= 0n) return { kind: 'nothing' }
  if (intent === undefined) {
    return { kind: 'send', ...(await openPaymentByCustomer(work, invoice, processorCustomerId)) }
  }
  const isOther = intent.cancelWanted || intent.originalAmountMinor !== dueMinor(invoice)
  return isOther ? { kind: 'busy' } : { kind: 'open', intent }
}

function payable(intent: PaymentIntent): InvoicePayment {
  if (intent.processorPaymentId === null || intent.cancelWanted) return { kind: 'busy' }
  return { kind: 'open', intent }
}
