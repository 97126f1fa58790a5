import type Stripe from 'stripe'
import type { ProcessorObject, ProcessorObjectKind } from '../payment-objects.ts'
import type { ProcessorEvent } from '../payment-processor.ts'
import {
  chargeFrom,
  disputeFrom,
  paymentIntentFrom,
  payoutFrom,
  refundFrom,
  setupIntentFrom,
} from './from-stripe.ts'
import { eventFrom, type StripeEvent } from './verify-webhook.ts'

/** Items of one page, the newest first. */
export type Listed<Item> = { readonly items: readonly Item[]; readonly hasMore: boolean }

export type ListParams = {
  created: { gte: number; lte?: number }
  limit: number
  starting_after?: string
}

/** Loads one page of each kind of object. */
export const objectListings: {
  readonly [Kind in ProcessorObjectKind]: (
    stripe: Stripe,
    params: ListParams,
  ) => Promise<Listed<Extract<ProcessorObject, { kind: Kind }>>>
} = {
  payment_intent: async (stripe, params) =>
    listed(await stripe.paymentIntents.list(params), paymentIntentFrom),
  setup_intent: async (stripe, params) =>
    listed(await stripe.setupIntents.list(params), setupIntentFrom),
  charge: async (stripe, params) =>
    listed(
      await stripe.charges.list({ ...params, expand: ['data.balance_transaction'] }),
      chargeFrom,
    ),
  refund: async (stripe, params) => listed(await stripe.refunds.list(params), refundFrom),
  dispute: async (stripe, params) => listed(await stripe.disputes.list(params), disputeFrom),
  payout: async (stripe, params) => listed(await stripe.payouts.list(params), payoutFrom),
}

/** Event types that we process. Stripe accepts at most twenty in one request. */
const followedTypes: readonly string[] = [
  ...['succeeded', 'payment_failed', 'processing', 'requires_action', 'canceled'].map(
    (type) => `payment_intent.${type}`,
  ),
  'setup_intent.succeeded',
  ...['created', 'updated', 'failed'].map((type) => `refund.${type}`),
  ...['created', 'updated', 'closed', 'funds_withdrawn', 'funds_reinstated'].map(
    (type) => `charge.dispute.${type}`,
  ),
  ...['created', 'updated', 'paid', 'failed', 'canceled'].map((type) => `payout.${type}`),
  'charge.updated',
]

export async function eventListing(
  stripe: Stripe,
  params: ListParams,
): Promise<Listed<ProcessorEvent>> {
  const page = await stripe.events.list({ ...params, types: [...followedTypes] })
  // Every requested type is about an object with an id.
  return listed(page, (event) => eventFrom(event as StripeEvent))
}

function listed<Object, Item>(
  page: { readonly data: readonly Object[]; readonly has_more: boolean },
  from: (object: Object) => Item,
): Listed<Item> {
  return { items: page.data.map(from), hasMore: page.has_more }
}
