import type Stripe from 'stripe'
import type {
  CreatedRange,
  CustomerDescription,
  NewPaymentIntent,
  NewRefund,
  PaymentChange,
  PaymentConfirmation,
} from '../payment-processor.ts'
import { toProcessorAmount } from '../processor-amounts.ts'
import type { ListParams } from './listings.ts'

/** Largest amount that a JavaScript number represents exactly. No currency's maximum is near it. */
const amountMax = BigInt(Number.MAX_SAFE_INTEGER)

/** The amount is too large to be sent. */
export class AmountTooLargeError extends Error {
  override readonly name = 'AmountTooLargeError'
}

export function customerParams(customer: CustomerDescription): Stripe.CustomerUpdateParams {
  return {
    ...(customer.email !== undefined && { email: customer.email }),
    ...(customer.name !== undefined && { name: customer.name }),
    metadata: customer.metadata,
  }
}

export function paymentIntentParams(payment: NewPaymentIntent): Stripe.PaymentIntentCreateParams {
  return {
    amount: amountOf(payment.amountMinor, payment.currency),
    currency: payment.currency.toLowerCase(),
    customer: payment.customerId,
    allowed_payment_method_types: ['card'],
    ...(payment.description !== undefined && { description: payment.description }),
    ...(payment.keepsCard === true && { setup_future_usage: 'off_session' }),
    ...(payment.confirm !== undefined && {
      confirm: true,
      ...confirmationParams(payment.confirm),
    }),
    metadata: payment.metadata,
  }
}

type ConfirmationParams = {
  readonly payment_method: string
  readonly off_session?: true
  readonly return_url?: string
}

export function confirmationParams(confirmation: PaymentConfirmation): ConfirmationParams {
  const { paymentMethodId, presence, returnUrl } = confirmation
  return {
    payment_method: paymentMethodId,
    ...(presence === 'off_session' && { off_session: true }),
    ...(presence === 'on_session' && returnUrl !== undefined && { return_url: returnUrl }),
  }
}

export function changeParams(change: PaymentChange): Stripe.PaymentIntentUpdateParams {
  return {
    ...(change.amountMinor !== undefined && {
      amount: amountOf(change.amountMinor, change.currency),
    }),
    ...(change.metadata !== undefined && { metadata: change.metadata }),
  }
}

export function refundParams(refund: NewRefund): Stripe.RefundCreateParams {
  return {
    payment_intent: refund.paymentIntentId,
    ...(refund.amountMinor !== undefined && {
      amount: amountOf(refund.amountMinor, refund.currency),
    }),
    ...(refund.reason !== undefined && { reason: refund.reason }),
    metadata: refund.metadata,
  }
}

export function listParams({ createdFrom, createdTo }: CreatedRange): ListParams {
  return {
    created: {
      gte: unixSeconds(createdFrom),
      ...(createdTo !== undefined && { lte: unixSeconds(createdTo) }),
    },
    limit: 100,
  }
}

function unixSeconds(time: Date): number {
  return Math.floor(time.getTime() / 1_000)
}

function amountOf(amountMinor: bigint, currency: string): number {
  const amount = toProcessorAmount(amountMinor, currency)
  if (amount <= amountMax) return Number(amount)
  throw new AmountTooLargeError('The amount is larger than any that can be charged.')
}
