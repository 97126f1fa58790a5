import { z } from 'zod'
import { purchaseStatuses } from '../http/purchases.ts'
import { currency, minorUnits, reference, unixSeconds, type EventDefinition } from './event.ts'

const identity = {
  id: reference,
  reference,
  status: z.enum(purchaseStatuses).describe('After what the event tells of'),
  customer: reference,
  plan: reference.nullable().describe('Null: credits were bought'),
  product: z.string().describe('Empty: credits were bought that no product was named for'),
  created: unixSeconds,
}

const purchase = z.strictObject({
  ...identity,
  amount: minorUnits,
  currency,
  billingCycle: z.string().nullable(),
  isRecurring: z.boolean(),
})

function told(description: string) {
  return { description, object: purchase } as const
}

export const purchaseEvents = {
  'purchase.created': told('A purchase was made'),
  'purchase.activated': told('A purchase began to give access'),
  'purchase.updated': told('Fields of a purchase changed'),
  'purchase.trial_ending': {
    description: 'A trial ends soon',
    object: purchase.extend({ trialEndsAt: unixSeconds }),
  },
  'purchase.trial_converted': told('A trial became a paid purchase'),
  'purchase.suspended': told('Access was suspended, because payments failed for good'),
  'purchase.past_due': {
    description: 'A payment failed, and is tried again',
    object: z.strictObject({
      ...identity,
      retryCount: z.int().positive().describe('Payments in a row that failed'),
      nextRetryAt: unixSeconds.nullable().describe('Unix seconds; null: it is not tried again'),
    }),
    previous: z.strictObject({ status: z.enum(purchaseStatuses) }),
  },
  'purchase.cancellation_scheduled': told('A purchase will end with its period'),
  'purchase.cancelled': told('A purchase was cancelled and has ended'),
  'purchase.reactivated': told('A scheduled cancellation was taken back'),
  'purchase.expired': told('A purchase has come to its end'),
  'purchase.renewed': told('A new period began'),
  'purchase.renewal_reminder': {
    description: 'A purchase renews soon, with that plan and amount',
    object: purchase.extend({ nextBillingAt: unixSeconds }),
  },
  'purchase.refunded': told('A purchase was paid back in full'),
  'purchase.plan_changed': {
    description: 'A customer moved to another plan',
    object: z.strictObject(identity),
    previous: z.strictObject({ plan: reference.nullable() }),
  },
} as const satisfies Record<string, EventDefinition>
