import { z } from 'zod'
import { reference, type EventDefinition } from './event.ts'

const movement = z.strictObject({
  customerId: reference,
  providerId: reference,
  /** The balance afterwards. */
  credits: z.number(),
  /** Below zero: taken. */
  amount: z.number(),
  /** Null: of no product. */
  productRef: reference.nullable(),
})

function moved(description: string) {
  return { description, object: movement } as const
}

export const creditEvents = {
  'customer.credit.topped_up': moved('Credits were bought'),
  'customer.credit.low_balance': moved('The balance fell below its threshold'),
  'customer.credit.exhausted': moved('The balance fell to zero'),
  'customer.credit.debited': moved('Usage was paid with credits'),
  'customer.credit.granted': moved('Credits were given'),
  'customer.credit.adjusted': moved('The balance was corrected by hand'),
  'customer.credit.auto_topup_failed': {
    description: 'An automatic top-up failed',
    object: z.strictObject({
      customerRef: reference,
      /** Null: it was turned down before the processor had a payment. */
      paymentIntentId: reference.nullable(),
      reason: z.string(),
    }),
  },
} as const satisfies Record<string, EventDefinition>
