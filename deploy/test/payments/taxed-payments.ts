import { adoptMoney } from '@tollgate/domain/payments/adopt-money'
import { findIntent } from '@tollgate/domain/payments/intents-repository'
import type { PaymentIntent as ProcessorIntent } from '@tollgate/platform/payments/payment-objects'
import type { PaymentStack } from './payment-stack.ts'

/* Customers that say where they are, and what is made of the money that their payments are found over. */

export const swede = { isBusiness: false, customerCountry: 'SE' }
export const german = {
  isBusiness: true,
  businessName: 'Ada GmbH',
  country: 'de',
  taxId: 'de 123 456 789',
  customerName: 'Ada Lovelace',
}

/** What a look at the payment that found it so makes of it. */
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
  const found = await adoptMoney(sql, providerId, intent!, look)
  return found && [found.originalAmountMinor, found.amountMinor, found.tax?.taxMinor]
}
