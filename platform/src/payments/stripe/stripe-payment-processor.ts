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
  type CustomerDescription,
  type NewPaymentIntent,
  type NewRefund,
  type NewSetupIntent,
  type PaymentChange,
  type PaymentConfirmation,
  type PaymentProcessor,
  type PaymentSearch,
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
import type { StripeAccess } from './stripe-settings.ts'
import {
  changeParams,
  confirmationParams,
  customerParams,
  paymentIntentParams,
  refundParams,
  searchParams,
} from './to-stripe.ts'
import { verifyWebhook } from './verify-webhook.ts'

type Keyed = { readonly idempotencyKey: string }

/** Stripe, or what speaks like it. */
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
    // The two writes are different words, and the customer may be deleted between two tries: each has a key of its own.
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
    const wanted = Object.entries(search.metadata ?? {})
    const params = searchParams(search)
    let after: string | undefined
    do {
      const from = after === undefined ? {} : { starting_after: after }
      const page = await this.#read((stripe) => stripe.paymentIntents.list({ ...params, ...from }))
      const intents = page?.data ?? []
      for (const intent of intents) {
        if (wanted.every(([name, value]) => intent.metadata[name] === value)) {
          yield paymentIntentFrom(intent)
        }
      }
      after = page?.has_more === true ? intents.at(-1)?.id : undefined
    } while (after !== undefined)
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
    // Each retrieval answers with the kind it stands under.
    return found
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

  /** Undefined when what is asked for is not there. */
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
  payment_intent: async (stripe, id) => paymentIntentFrom(await stripe.paymentIntents.retrieve(id)),
  setup_intent: async (stripe, id) => setupIntentFrom(await stripe.setupIntents.retrieve(id)),
  charge: async (stripe, id) =>
    chargeFrom(await stripe.charges.retrieve(id, { expand: ['balance_transaction'] })),
  refund: async (stripe, id) => refundFrom(await stripe.refunds.retrieve(id)),
  dispute: async (stripe, id) => disputeFrom(await stripe.disputes.retrieve(id)),
  payout: async (stripe, id) => payoutFrom(await stripe.payouts.retrieve(id)),
}
