import { z } from 'zod'
import { reference, unixSeconds, type EventDefinition } from './event.ts'

const movement = z.strictObject({
  customerId: reference,
  providerId: reference,
  credits: z
    .number()
    .describe(
      'Balance after the movement, with up to 6 decimals if parts of a unit cost parts of a credit',
    ),
  amount: z.number().describe('Credits with the same precision. Negative if they left the wallet'),
  productRef: reference.nullable().describe('Null if no product is named'),
})

function movementEvent(description: string) {
  return { description, object: movement } as const
}

export const creditEvents = {
  'customer.credit.topped_up': movementEvent('Credits were bought'),
  'customer.credit.low_balance': movementEvent('The balance fell below its threshold'),
  'customer.credit.exhausted': movementEvent('The balance fell to zero'),
  'customer.credit.debited': movementEvent('Usage was paid with credits'),
  'customer.credit.granted': movementEvent('Credits were granted'),
  'customer.credit.adjusted': movementEvent('The balance was corrected by hand'),
  'customer.credit.expiring': {
    description: 'Credits expire soon',
    object: z.strictObject({
      customerId: reference,
      providerId: reference,
      credits: z.number().describe('Credits that expire, with up to 6 decimals'),
      expiresAt: unixSeconds,
    }),
  },
  'customer.credit.auto_topup_failed': {
    description: 'An automatic top-up failed',
    object: z.strictObject({
      customerRef: reference,
      paymentIntentId: reference
        .nullable()
        .describe(
          'Id at the payment processor. Null if the top-up was refused before a payment was created',
        ),
      reason: z.string(),
    }),
  },
} as const satisfies Record<string, EventDefinition>
