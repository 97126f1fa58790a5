import { z } from 'zod'
import { currency, minorUnits, reference, unixSeconds, type EventDefinition } from './event.ts'

const customer = z.strictObject({
  id: reference,
  reference,
  name: z.string().nullable(),
  email: z.string().describe('Empty after the customer was deleted, like name and telephone'),
  telephone: z.string().nullable(),
  status: z.literal('active'),
  created: unixSeconds,
})

export const customerEvents = {
  'customer.created': {
    description: 'A customer was created',
    object: customer.extend({
      product: z
        .strictObject({ reference })
        .nullable()
        .describe(
          'The product whose MCP client the customer signed in to. Null if the customer was created in another way',
        ),
    }),
  },
  'customer.updated': { description: 'Fields of a customer changed', object: customer },
  'customer.deleted': {
    description: 'A customer was deleted',
    object: z.strictObject({ id: reference, created: unixSeconds }),
  },
  'customer.balance.payout_failed': {
    description: 'A refund that paid out the balance of a customer failed',
    object: z.strictObject({
      customer: reference,
      payout: reference.describe('Reference of the payout'),
      refund: reference.describe('Reference of the refund, whose amount is in the balance again'),
      amount: minorUnits,
      currency,
      reason: z.string(),
      created: unixSeconds,
    }),
  },
} as const satisfies Record<string, EventDefinition>
