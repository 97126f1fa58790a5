import { z } from 'zod'
import { currency, minorUnits, reference, unixSeconds, type EventDefinition } from './event.ts'

const money = { id: reference, amount: minorUnits, currency, created: unixSeconds }

const payment = z.strictObject({
  ...money,
  customer: reference,
  product: reference.nullable().describe('Null if the payment is not for a product'),
  plan: reference
    .nullable()
    .describe('Null if the payment is not for a plan, for example a top-up'),
  processor_payment_intent: reference
    .nullable()
    .describe('Null if the processor refused to create the payment'),
  transaction_reference: reference,
})

const refund = z.strictObject({ ...money, processor_refund: reference, reason: z.string() })

const dispute = z.strictObject({
  ...money,
  reason: z.string(),
  status: z.string().describe('Status as the payment processor reports it'),
  processor_dispute: reference,
  processor_charge: reference,
})

const payout = z.strictObject({
  ...money,
  status: z.enum(['paid', 'failed']),
  processor_payout: reference,
  arrival_date: unixSeconds,
})

const failure = { failure_reason: z.string() }

export const paymentEvents = {
  'payment.succeeded': { description: 'A payment succeeded', object: payment },
  'payment.failed': { description: 'A payment failed', object: payment.extend(failure) },
  'payment.refunded': { description: 'A payment was refunded', object: refund },
  'payment.refund_failed': { description: 'A refund failed', object: refund.extend(failure) },
  'payment.refund_pending': {
    description: 'A refund is pending',
    object: refund.extend({ status: z.literal('pending') }),
  },
  'payment.canceled': { description: 'A payment was canceled', object: payment },
  'payment.disputed': { description: 'A payment was disputed', object: dispute },
  'payment.dispute_closed': { description: 'A dispute was closed', object: dispute },
} as const satisfies Record<string, EventDefinition>

export const payoutEvents = {
  'payout.paid': { description: 'A payout arrived', object: payout },
  'payout.failed': { description: 'A payout failed', object: payout },
} as const satisfies Record<string, EventDefinition>
