import { withProcessorAmount } from '@tollgate/domain/settlement/processor-amount'
import { findIntent } from '@tollgate/domain/payments/intents-repository'
import type { PaymentIntent as ProcessorIntent } from '@tollgate/platform/payments/payment-objects'
import type {
  PaymentIntentBody,
  ProcessedPaymentBody,
  TaxedPaymentBody,
} from '@tollgate/schemas/http/payment-intents'
import { afterAll, beforeEach, expect } from 'vitest'
import { PaymentStack } from './payment-stack.ts'

/* Customers who state their country, and how a differing amount at the processor is adopted. */

export const swede = { isBusiness: false, customerCountry: 'SE' }
export const german = {
  isBusiness: true,
  businessName: 'Ada GmbH',
  country: 'de',
  taxId: 'de 123 456 789',
  customerName: 'Ada Lovelace',
}

/**
 * Starts a Swedish provider who collects VAT, with a new customer for each test of the file.
 * A test that makes a second payment increments `sequence`, which is part of the idempotency key.
 */
export async function startSwedishProvider() {
  const payments = await PaymentStack.start({ settings: { TOLLGATE_STRIPE_TIMEOUT_MS: '400' } })
  const merchant = { country: 'SE', vatNumber: 'SE556012579001' }
  expect((await payments.call('PATCH', '/v1/ui/merchant', merchant)).status).toBe(200)
  const provider = {
    payments,
    customerRef: '',
    sequence: 0,
    createIntent: (fields: object) =>
      payments.createIntent(`taxed-${provider.sequence}`, {
        customerRef: provider.customerRef,
        ...fields,
      }),
  }
  beforeEach(async () => {
    provider.sequence += 1
    provider.customerRef = await payments.createCustomer()
  })
  afterAll(() => payments.stop())

  const topUp = async (amount = 1000, currency = 'USD'): Promise<PaymentIntentBody> => {
    const fields = { purpose: 'credit_topup', amount, currency }
    const { status, body } = await provider.createIntent(fields)
    expect(status).toBe(201)
    return body
  }
  const setDetails = (reference: string, details: object) => {
    const path = `/v1/sdk/payment-intents/${reference}/business-details`
    return payments.call<TaxedPaymentBody & { message: string }>('POST', path, details)
  }
  const pay = async ({ processorPaymentId }: PaymentIntentBody): Promise<ProcessedPaymentBody> => {
    await payments.confirm(processorPaymentId)
    const { customerRef } = provider
    return (await payments.process<ProcessedPaymentBody>(processorPaymentId, customerRef)).body
  }
  /** Returns the amount that the processor would charge. */
  const amountAtProcessor = async (processorPaymentId: string): Promise<number> => {
    const { body } = await payments.stripe('GET', `payment_intents/${processorPaymentId}`)
    return (body as unknown as { amount: number }).amount
  }
  return { payments, provider, topUp, setDetails, pay, amountAtProcessor }
}

/** Returns the result of reconciling a payment with the given amount at the processor. */
export async function reconcileAmount(
  payments: PaymentStack,
  reference: string,
  amountMinor: bigint,
  status: ProcessorIntent['status'],
) {
  const sql = payments.sql
  const { providerId } = payments.tenant
  const intent = await findIntent(sql, providerId, reference)
  const read: ProcessorIntent = {
    kind: 'payment_intent',
    id: intent!.processorPaymentId!,
    status,
    amountMinor,
    receivedMinor: 0n,
    currency: 'USD',
    chargeId: undefined,
    settlement: undefined,
    clientSecret: undefined,
    customerId: undefined,
    paymentMethodId: undefined,
    nextAction: undefined,
    lastDecline: undefined,
    metadata: {},
    createdAt: new Date(),
  }
  const found = await withProcessorAmount(sql, providerId, intent!, read)
  return found && [found.originalAmountMinor, found.amountMinor, found.tax?.taxMinor]
}
