import type { PaymentIntent } from '../src/payments/payment-intent.ts'

type Given = Pick<
  PaymentIntent,
  'reference' | 'purpose' | 'customerRef' | 'amountMinor' | 'originalAmountMinor' | 'currency'
>

/** Returns a payment that needs a card, with the given fields and created at `at`. */
export function createTestIntent(given: Given & Partial<PaymentIntent>, at: Date): PaymentIntent {
  return {
    productRef: null,
    planRef: null,
    planSnapshot: null,
    planSwitch: null,
    cycleMode: 'calendar',
    checkoutSessionId: null,
    paymentMethodId: null,
    keepsCard: false,
    status: 'requires_payment_method',
    exchangeRate: '1',
    fromBalanceMinor: 0n,
    tax: null,
    credits: null,
    description: null,
    processorCustomerId: 'cus_processor',
    processorPaymentId: null,
    purchaseRef: null,
    invoiceRef: null,
    failureReason: null,
    declinedCharges: [],
    refundWanted: false,
    cancelWanted: false,
    settlementWanted: false,
    paidMethodId: null,
    sellerName: 'Acme',
    paidWith: null,
    idempotencyKey: given.reference,
    inputSha256: '',
    expiresAt: at,
    nextLookAt: null,
    createdAt: at,
    updatedAt: at,
    succeededAt: null,
    ...given,
  }
}
