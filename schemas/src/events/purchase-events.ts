import { z } from 'zod'
import { purchaseStatuses } from '../http/purchases.ts'
import { currency, minorUnits, reference, unixSeconds, type EventDefinition } from './event.ts'

const identity = {
  id: reference,
  reference,
  status: z.enum(purchaseStatuses).describe('Status after the event'),
  customer: reference,
  plan: reference.nullable().describe('Null if credits were bought'),
  product: z.string().describe('Empty if credits were bought without a product'),
  created: unixSeconds,
}

const purchase = z.strictObject({
  ...identity,
  amount: minorUnits,
  currency,
  billingCycle: z.string().nullable(),
  isRecurring: z.boolean(),
})

export const suspensionReasons = ['payment_failed', 'charged_back'] as const

function purchaseEvent(description: string) {
  return { description, object: purchase } as const
}

export const purchaseEvents = {
  'purchase.created': purchaseEvent('A purchase was created'),
  'purchase.activated': purchaseEvent('A purchase was activated and gives access'),
  'purchase.updated': purchaseEvent('Fields of a purchase changed'),
  'purchase.trial_ending': {
    description: 'A trial ends soon',
    object: purchase.extend({ trialEndsAt: unixSeconds }),
  },
  'purchase.trial_converted': purchaseEvent('A trial became a paid purchase'),
  'purchase.suspended': {
    description: 'Access was suspended, because of a payment that failed or was charged back',
    object: purchase.extend({
      reason: z
        .enum(suspensionReasons)
        .describe(
          '`payment_failed`: a payment failed and is not retried. `charged_back`: the bank of the customer withdrew a payment',
        ),
    }),
  },
  'purchase.past_due': {
    description: 'A payment failed and will be retried',
    object: z.strictObject({
      ...identity,
      retryCount: z.int().positive().describe('Number of consecutive failed payments'),
      nextRetryAt: unixSeconds.nullable().describe('Unix seconds. Null if it is not retried'),
    }),
    previous: z.strictObject({ status: z.enum(purchaseStatuses) }),
  },
  'purchase.cancellation_scheduled': purchaseEvent(
    'A purchase will be cancelled at the end of its period',
  ),
  'purchase.cancelled': purchaseEvent('A purchase was cancelled and has ended'),
  'purchase.reactivated': purchaseEvent('A scheduled cancellation was withdrawn'),
  'purchase.expired': purchaseEvent('A purchase expired'),
  'purchase.renewed': purchaseEvent('A new period began'),
  'purchase.renewal_reminder': {
    description: 'A purchase will renew soon with this plan and amount',
    object: purchase.extend({ nextBillingAt: unixSeconds }),
  },
  'purchase.refunded': purchaseEvent('A purchase was refunded in full'),
  'purchase.plan_changed': {
    description: 'A customer moved to another plan',
    object: z.strictObject(identity),
    previous: z.strictObject({ plan: reference.nullable() }),
  },
  'purchase.plan_change_scheduled': {
    description: 'A purchase will change to this plan, or to new terms of its plan',
    object: purchase.extend({
      plan: reference.describe('The plan after the change'),
      amount: minorUnits.describe('Price of a period after the change, in minor units'),
      effectiveAt: unixSeconds.describe('When the change takes effect, in Unix seconds'),
    }),
    previous: z.strictObject({ plan: reference.nullable() }),
  },
  'purchase.plan_change_withdrawn': {
    description: 'An announced change of plan was withdrawn, and the purchase keeps its plan',
    object: purchase,
    previous: z.strictObject({ plan: reference.nullable() }),
  },
} as const satisfies Record<string, EventDefinition>
