import { z } from 'zod'
import { currency, minorUnits, reference, unixSeconds, type EventDefinition } from './event.ts'

const checkoutSession = z.strictObject({
  id: reference,
  session_id: reference,
  url: z.url(),
  status: z.enum(['active', 'used', 'expired']),
  amount: minorUnits
    .nullable()
    .describe(
      'Minor units of `currency`. Null, like `currency` and `plan`, while no plan is chosen',
    ),
  currency: currency.nullable(),
  customer: reference,
  product: reference.nullable().describe('Null if the session is for credits'),
  plan: reference.nullable(),
  expires_at: unixSeconds,
  created: unixSeconds,
})

export const checkoutEvents = {
  'checkout_session.created': {
    description: 'A checkout session was created',
    object: checkoutSession,
  },
  'checkout_session.completed': {
    description: 'A checkout session was completed',
    object: checkoutSession,
  },
  'checkout_session.expired': {
    description: 'A checkout session expired',
    object: checkoutSession,
  },
} as const satisfies Record<string, EventDefinition>
