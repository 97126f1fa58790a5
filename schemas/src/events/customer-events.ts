import { z } from 'zod'
import { reference, unixSeconds, type EventDefinition } from './event.ts'

/** Fields of a person are empty once the customer was deleted. */
const customer = z.strictObject({
  id: reference,
  reference,
  name: z.string().nullable(),
  email: z.string(),
  telephone: z.string().nullable(),
  status: z.literal('active'),
  created: unixSeconds,
})

export const customerEvents = {
  'customer.created': {
    description: 'A customer was created',
    // The product through whose MCP client the customer signed in; null: created in any other way.
    object: customer.extend({ product: z.strictObject({ reference }).nullable() }),
  },
  'customer.updated': { description: 'Fields of a customer changed', object: customer },
  'customer.deleted': {
    description: 'A customer was deleted',
    object: z.strictObject({ id: reference, created: unixSeconds }),
  },
} as const satisfies Record<string, EventDefinition>
