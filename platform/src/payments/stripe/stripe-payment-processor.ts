import type Stripe from 'stripe'
import type {
  PaymentIntent,
  PaymentMethod,
  ProcessorCustomer,
  ProcessorObject,
  ProcessorObjectKind,
  Refund,
} from '../payment-objects.ts'
import {
  outcomeOf,
  type PaymentOutcome,
  type SetupOutcome,
  type Written,
} from '../payment-outcomes.ts'
import {
  PaymentProcessorUnavailableError,
  type CreatedRange,
  type CustomerDescription,
  type NewPaymentIntent,
  type NewRefund,
  type NewSetupIntent,
  type PaymentChange,
  type PaymentConfirmation,
  type PaymentProcessor,
  type PaymentSearch,
  type ProcessorEvent,
  type WebhookVerdict,
} from '../payment-processor.ts'
import {
  chargeFrom,
  customerFrom,
  disputeFrom,
  paymentIntentFrom,
  paymentMethodFrom,
  payoutFrom,
  refundFrom,
  setupIntentFrom,
} from './from-stripe.ts'
import { inTime } from './in-time.ts'
import { isMissing, judgeError, judgePaymentError, judgeSetupError } from './judge-error.ts'
import { openStripe, type OpenStripe } from './open-stripe.ts'
import { eventListing, objectListings, type Listed, type ListParams } from './listings.ts'
import type { StripeAccess } from './stripe-settings.ts'
import {
  changeParams,
  confirmationParams,
  customerParams,
  listParams,
  paymentIntentParams,
  refundParams,
} from './to-stripe.ts'
import { verifyWebhook } from './verify-webhook.ts'

/** The empty page of a customer that does not exist. */
const noMore = { items: [], hasMore: false }

type Keyed = { readonly idempotencyKey: string }

/** The payment processor Stripe, or a simulator with the same API. */
export class StripePaymentProcessor implements PaymentProcessor {
  readonly #access: StripeAccess
  readonly #open: OpenStripe

  constructor(access: StripeAccess) {
    this.#access = access
    this.#open = openStripe(access)
  }

  async ensureCustomer(
    customer: CustomerDescription,
    key: string,
  ): Promise<Written<ProcessorCustomer>> {
    // The two writes have different parameters, and the customer may be deleted between two attempts, so each has its own key.
    const create = keyed(`${key}:create`)
    const update = keyed(`${key}:update`)
    return await this.#write(async (stripe) => {
      const known = customer.id === undefined ? undefined : await findCustomer(stripe, customer.id)
      const params = customerParams(customer)
      if (known === undefined) return customerFrom(await stripe.customers.create(params, create))
      if (isAsDescribed(known, customer)) return known
      return customerFrom(await stripe.customers.update(known.id, params, update))
    })
  }

  retrieveCustomer(id: string): Promise<ProcessorCustomer | undefined> {
    return this.#read((stripe) => findCustomer(stripe, id))
  }

  deleteCustomer(id: string): Promise<Written<undefined>> {
    return this.#write(async (stripe) => {
      await stripe.customers.del(id).catch((error: unknown) => {
        if (!isMissing(error)) throw error
      })
      return undefined
    })
  }

  async listPaymentMethods(customerId: string): Promise<readonly PaymentMethod[]> {
    const methods = await this.#read((stripe) =>
      stripe.paymentMethods.list({ customer: customerId, type: 'card', limit: 100 }),
    )
    return (methods?.data ?? []).map(paymentMethodFrom)
  }

  retrievePaymentMethod(id: string): Promise<PaymentMethod | undefined> {
    return this.#read(async (stripe) => paymentMethodFrom(await stripe.paymentMethods.retrieve(id)))
  }

  async attachPaymentMethod(
    id: string,
    customerId: string,
    key: string,
  ): Promise<Written<PaymentMethod> | Extract<SetupOutcome, { intent: undefined }>> {
    try {
      const attached = await this.#call((stripe) =>
        stripe.paymentMethods.attach(id, { customer: customerId }, keyed(key)),
      )
      return { outcome: 'done', value: paymentMethodFrom(attached) }
    } catch (error) {
      return judgeError(error)
    }
  }

  detachPaymentMethod(id: string, key: string): Promise<Written<PaymentMethod>> {
    return this.#write(async (stripe) =>
      paymentMethodFrom(await stripe.paymentMethods.detach(id, {}, keyed(key))),
    )
  }

  setDefaultPaymentMethod(
    customerId: string,
    paymentMethodId: string | undefined,
    key: string,
  ): Promise<Written<ProcessorCustomer>> {
    const params = { invoice_settings: { default_payment_method: paymentMethodId ?? '' } }
    return this.#write(async (stripe) =>
      customerFrom(await stripe.customers.update(customerId, params, keyed(key))),
    )
  }

  async createSetupIntent(setup: NewSetupIntent, key: string): Promise<SetupOutcome> {
    const { customerId: customer, metadata } = setup
    try {
      const intent = await this.#call((stripe) =>
        stripe.setupIntents.create(
          { customer, metadata, usage: 'off_session', allowed_payment_method_types: ['card'] },
          keyed(key),
        ),
      )
      return outcomeOf(setupIntentFrom(intent))
    } catch (error) {
      return judgeSetupError(error)
    }
  }

  createPaymentIntent(payment: NewPaymentIntent, key: string): Promise<PaymentOutcome> {
    return this.#pay((stripe) =>
      stripe.paymentIntents.create(paymentIntentParams(payment), keyed(key)),
    )
  }

  changePaymentIntent(id: string, change: PaymentChange, key: string): Promise<PaymentOutcome> {
    return this.#pay((stripe) => stripe.paymentIntents.update(id, changeParams(change), keyed(key)))
  }

  confirmPaymentIntent(
    id: string,
    confirmation: PaymentConfirmation,
    key: string,
  ): Promise<PaymentOutcome> {
    return this.#pay((stripe) =>
      stripe.paymentIntents.confirm(id, confirmationParams(confirmation), keyed(key)),
    )
  }

  cancelPaymentIntent(id: string, key: string): Promise<PaymentOutcome> {
    return this.#pay((stripe) => stripe.paymentIntents.cancel(id, {}, keyed(key)))
  }

  async *findPaymentIntents(search: PaymentSearch): AsyncIterable<PaymentIntent> {
    const { customerId, metadata = {} } = search
    const wanted = Object.entries(metadata)
    const ofCustomer = customerId === undefined ? {} : { customer: customerId }
    const found = this.#pages(search, (stripe, params) =>
      objectListings.payment_intent(stripe, { ...params, ...ofCustomer }),
    )
    for await (const intent of found) {
      if (wanted.every(([name, value]) => intent.metadata[name] === value)) yield intent
    }
  }

  createRefund(refund: NewRefund, key: string): Promise<Written<Refund>> {
    return this.#write(async (stripe) =>
      refundFrom(await stripe.refunds.create(refundParams(refund), keyed(key))),
    )
  }

  retrieve<Kind extends ProcessorObjectKind>(
    kind: Kind,
    id: string,
  ): Promise<Extract<ProcessorObject, { kind: Kind }> | undefined> {
    const found = this.#read((stripe) => retrievals[kind](stripe, id))
    // Each retrieval returns the kind under which it is listed.
    return found
  }

  list<Kind extends ProcessorObjectKind>(
    kind: Kind,
    created: CreatedRange,
  ): AsyncIterable<Extract<ProcessorObject, { kind: Kind }>> {
    return this.#pages(created, objectListings[kind])
  }

  listEvents(created: CreatedRange): AsyncIterable<ProcessorEvent> {
    return this.#pages(created, eventListing)
  }

  verifyWebhook(body: Uint8Array, signature: string, now: Date): WebhookVerdict {
    return verifyWebhook(this.#access, body, signature, now)
  }

  async close(): Promise<void> {
    this.#open.close()
  }

  async #pay(call: (stripe: Stripe) => Promise<Stripe.PaymentIntent>): Promise<PaymentOutcome> {
    try {
      return outcomeOf(paymentIntentFrom(await this.#call(call)))
    } catch (error) {
      return judgePaymentError(error)
    }
  }

  async #write<Value>(call: (stripe: Stripe) => Promise<Value>): Promise<Written<Value>> {
    try {
      return { outcome: 'done', value: await this.#call(call) }
    } catch (error) {
      const judged = judgeError(error)
      if (judged.outcome !== 'declined') return judged
      const { code, message } = judged.decline
      return { outcome: 'refused', reason: 'invalid', code, message }
    }
  }

  /** Returns undefined if the object does not exist. */
  async #read<Value>(
    call: (stripe: Stripe) => Promise<Value | undefined>,
  ): Promise<Value | undefined> {
    try {
      return await this.#call(call)
    } catch (error) {
      if (isMissing(error)) return undefined
      const judged = judgeError(error)
      if (judged.outcome !== 'unknown') throw error
      throw new PaymentProcessorUnavailableError(judged.message, { cause: error })
    }
  }

  async *#pages<Item extends { readonly id: string }>(
    created: CreatedRange,
    load: (stripe: Stripe, params: ListParams) => Promise<Listed<Item>>,
  ): AsyncIterable<Item> {
    let params: ListParams | undefined = listParams(created)
    while (params !== undefined) {
      const { items, hasMore } = (await this.#read((stripe) => load(stripe, params!))) ?? noMore
      yield* items
      const last = items.at(-1)
      params = hasMore && last !== undefined ? { ...params, starting_after: last.id } : undefined
    }
  }

  #call<Value>(call: (stripe: Stripe) => Promise<Value>): Promise<Value> {
    return inTime(this.#access.timeoutMs, call(this.#open.stripe))
  }
}

function keyed(idempotencyKey: string): Keyed {
  return { idempotencyKey }
}

async function findCustomer(stripe: Stripe, id: string): Promise<ProcessorCustomer | undefined> {
  try {
    const customer = await stripe.customers.retrieve(id)
    return customer.deleted === true ? undefined : customerFrom(customer)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

function isAsDescribed(known: ProcessorCustomer, described: CustomerDescription): boolean {
  const { email = known.email, name = known.name, metadata } = described
  return (
    known.email === email &&
    known.name === name &&
    Object.entries(metadata).every(([key, value]) => known.metadata[key] === value)
  )
}

const retrievals: {
  readonly [Kind in ProcessorObjectKind]: (
    stripe: Stripe,
    id: string,
  ) => Promise<Extract<ProcessorObject, { kind: Kind }>>
} = {
  payment_intent: async (stripe, id) =>
    paymentIntentFrom(
      await stripe.paymentIntents.retrieve(id, { expand: ['latest_charge.balance_transaction'] }),
    ),
  setup_intent: async (stripe, id) => setupIntentFrom(await stripe.setupIntents.retrieve(id)),
  charge: async (stripe, id) =>
    chargeFrom(await stripe.charges.retrieve(id, { expand: ['balance_transaction'] })),
  refund: async (stripe, id) =>
    refundFrom(
      await stripe.refunds.retrieve(id, {
        expand: ['balance_transaction', 'failure_balance_transaction'],
      }),
    ),
  dispute: async (stripe, id) => disputeFrom(await stripe.disputes.retrieve(id)),
  payout: async (stripe, id) => payoutFrom(await stripe.payouts.retrieve(id)),
}
