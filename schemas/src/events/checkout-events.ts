import { z } from 'zod'
import { currency, minorUnits, reference, unixSeconds, type EventDefinition } from './event.ts'

const checkoutSession = z.strictObject({
  id: reference,
  session_id: reference,
  url: z.url(),
  status: z.enum(['active', 'used', 'expired']),
  amount: minorUnits
    .nullable()
    .describe('Minor units of `currency`; null, as it and the plan: nothing is chosen yet'),
  currency: currency.nullable(),
  customer: reference,
  product: reference.nullable().describe('Null: credits are bought'),
  plan: reference.nullable(),
  expires_at: unixSeconds,
  created: unixSeconds,
})

export const checkoutEvents = {
  'checkout_session.created': {
    description: 'A checkout page was opened',
    object: checkoutSession,
  },
  'checkout_session.completed': {
    description: 'A checkout was completed',
    object: checkoutSession,
  },
  'checkout_session.expired': { description: 'A checkout was abandoned', object: checkoutSession },
} as const satisfies Record<string, EventDefinition>
