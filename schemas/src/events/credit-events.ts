import { z } from 'zod'
import { reference, type EventDefinition } from './event.ts'

const movement = z.strictObject({
  customerId: reference,
  providerId: reference,
  credits: z
    .number()
    .describe(
      'The balance afterwards; up to 6 decimals, where parts of a unit cost parts of a credit',
    ),
  amount: z.number().describe('Credits, as exact; below zero: taken'),
  productRef: reference.nullable().describe('Null: of no product'),
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
      paymentIntentId: reference
        .nullable()
        .describe('At the processor; null: it was turned down before there was one'),
      reason: z.string(),
    }),
  },
} as const satisfies Record<string, EventDefinition>
