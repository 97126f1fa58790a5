import { withProcessorAmount } from '@tollgate/domain/settlement/processor-amount'
import { findIntent } from '@tollgate/domain/payments/intents-repository'
import type { PaymentIntent as ProcessorIntent } from '@tollgate/platform/payments/payment-objects'
import type { PaymentIntentBody, TaxedPaymentBody } from '@tollgate/schemas/http/payment-intents'
import { expect } from 'vitest'
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

/** Starts a Swedish provider who collects VAT. */
export async function startSwedishProvider(): Promise<PaymentStack> {
  const payments = await PaymentStack.start({ settings: { TOLLGATE_STRIPE_TIMEOUT_MS: '400' } })
  const merchant = { country: 'SE', vatNumber: 'SE556012579001' }
  expect((await payments.call('PATCH', '/v1/ui/merchant', merchant)).status).toBe(200)
  return payments
}

export async function topUpOf(
  payments: PaymentStack,
  customerRef: string,
  key: string,
  amount = 1000,
  currency = 'USD',
): Promise<PaymentIntentBody> {
  const asked = { customerRef, purpose: 'credit_topup', amount, currency }
  const { status, body } = await payments.createIntent(key, asked)
  expect(status).toBe(201)
  return body
}

export function setDetailsOf(payments: PaymentStack, reference: string, details: object) {
  const path = `/v1/sdk/payment-intents/${reference}/business-details`
  return payments.call<TaxedPaymentBody & { message: string }>('POST', path, details)
}

/** Returns the amount that the processor would charge. */
export async function amountAtProcessor(payments: PaymentStack, id: string): Promise<number> {
  const { body } = await payments.stripe('GET', `payment_intents/${id}`)
  return (body as unknown as { amount: number }).amount
}

/** Returns the result of reconciling a payment with the given amount at the processor. */
export async function adoptedMoney(
  payments: PaymentStack,
  reference: string,
  amountMinor: bigint,
  status: ProcessorIntent['status'],
) {
  const sql = payments.stack.database.in('sandbox')
  const { providerId } = payments.tenant
  const intent = await findIntent(sql, providerId, reference)
  const look: ProcessorIntent = {
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
  const found = await withProcessorAmount(sql, providerId, intent!, look)
  return found && [found.originalAmountMinor, found.amountMinor, found.tax?.taxMinor]
}
