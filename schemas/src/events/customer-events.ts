import { z } from 'zod'
import { reference, unixSeconds, type EventDefinition } from './event.ts'

const customer = z.strictObject({
  id: reference,
  reference,
  name: z.string().nullable(),
  email: z.string().describe('Empty, like name and telephone, once the customer was deleted'),
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
        .describe('Whose MCP client the customer signed in to; null: created in any other way'),
    }),
  },
  'customer.updated': { description: 'Fields of a customer changed', object: customer },
  'customer.deleted': {
    description: 'A customer was deleted',
    object: z.strictObject({ id: reference, created: unixSeconds }),
  },
} as const satisfies Record<string, EventDefinition>
