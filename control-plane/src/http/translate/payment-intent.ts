import type { PaymentIntent } from '@tollgate/domain/payments/payment-intent'
import type { PaymentIntentBody } from '@tollgate/schemas/http/payment-intents'
import { present } from '../../domain/present.ts'

export function paymentIntentToHttp(
  intent: PaymentIntent,
  browser: { readonly clientSecret: string | undefined; readonly publishableKey: string },
): PaymentIntentBody {
  return {
    ...paymentIntentSummary(intent),
    customerRef: intent.customerRef,
    originalAmount: Number(intent.originalAmountMinor),
    exchangeRate: Number(intent.exchangeRate),
    publishableKey: browser.publishableKey,
    transactionId: intent.reference,
    expiresAt: intent.expiresAt.toISOString(),
    ...present({ clientSecret: browser.clientSecret }),
  }
}

/** Converts a payment intent to the shape that it has in lists. */
export function paymentIntentSummary(intent: PaymentIntent) {
  const { status, planRef } = intent
  return {
    processorPaymentId: intent.processorPaymentId ?? intent.reference,
    amount: Number(intent.amountMinor),
    currency: intent.currency.toLowerCase(),
    // Until the processor has confirmed the intent, its status is already shown as waiting for the customer.
    status: status === 'creating' ? ('requires_payment_method' as const) : status,
    createdAt: intent.createdAt.toISOString(),
    ...present({ planRef }),
  }
}
