import { z } from 'zod'
import { currency, minorUnits, reference, unixSeconds, type EventDefinition } from './event.ts'

const checkoutSession = z.strictObject({
  id: reference,
  session_id: reference,
  url: z.url(),
  status: z.enum(['active', 'used', 'expired']),
  /** Null, like the currency and the plan: the customer has not chosen yet. */
  amount: minorUnits.nullable(),
  currency: currency.nullable(),
  customer: reference,
  /** Null: credits are bought. */
  product: reference.nullable(),
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
