import type {
  PaymentIntent,
  PaymentMethod,
  ProcessorCustomer,
  ProcessorMetadata,
  ProcessorObject,
  ProcessorObjectKind,
  Refund,
} from './payment-objects.ts'
import type { PaymentOutcome, SetupOutcome, Written } from './payment-outcomes.ts'

/**
 * Who charges cards for us, in one environment.
 *
 * Every write takes an idempotency key of at most 200 characters, which the caller has stored before: the same key with
 * the same words has its effect once, for 24 hours. Writes never throw for what happens at the processor: what is not
 * known to have happened is the outcome `unknown`. Reads throw PaymentProcessorUnavailableError. No call takes longer
 * than the configured time.
 */
export interface PaymentProcessor {
  /**
   * The customer as described: made when there is no id, or when the one with that id was deleted; changed where it
   * differs. A key may be given again for the same description alone.
   */
  ensureCustomer(customer: CustomerDescription, key: string): Promise<Written<ProcessorCustomer>>
  retrieveCustomer(id: string): Promise<ProcessorCustomer | undefined>
  /** For good, with its cards; one that is gone already is done. It needs no key: a second time changes nothing. */
  deleteCustomer(id: string): Promise<Written<undefined>>

  /** Cards of a customer, the newest first. */
  listPaymentMethods(customerId: string): Promise<readonly PaymentMethod[]>
  retrievePaymentMethod(id: string): Promise<PaymentMethod | undefined>
  /** Turned down by the bank, it is `declined`. */
  attachPaymentMethod(
    id: string,
    customerId: string,
    key: string,
  ): Promise<Written<PaymentMethod> | Extract<SetupOutcome, { intent: undefined }>>
  /** For good: one that was detached cannot be charged or attached again. */
  detachPaymentMethod(id: string, key: string): Promise<Written<PaymentMethod>>
  /** Undefined takes the default away. */
  setDefaultPaymentMethod(
    customerId: string,
    paymentMethodId: string | undefined,
    key: string,
  ): Promise<Written<ProcessorCustomer>>

  createSetupIntent(setup: NewSetupIntent, key: string): Promise<SetupOutcome>

  createPaymentIntent(payment: NewPaymentIntent, key: string): Promise<PaymentOutcome>
  /** Only while it is open. */
  changePaymentIntent(id: string, change: PaymentChange, key: string): Promise<PaymentOutcome>
  /** The next try of the same payment. One that has succeeded already answers so. */
  confirmPaymentIntent(
    id: string,
    confirmation: PaymentConfirmation,
    key: string,
  ): Promise<PaymentOutcome>
  /** One that has ended otherwise by now answers how. */
  cancelPaymentIntent(id: string, key: string): Promise<PaymentOutcome>
  /** The newest first, page by page. Read-after-write: what this does not find is not there. */
  findPaymentIntents(search: PaymentSearch): AsyncIterable<PaymentIntent>

  createRefund(refund: NewRefund, key: string): Promise<Written<Refund>>

  /** What an event was about, as it is now. */
  retrieve<Kind extends ProcessorObjectKind>(
    kind: Kind,
    id: string,
  ): Promise<Extract<ProcessorObject, { kind: Kind }> | undefined>

  /** Everything of a kind that was made in that time, the newest first, page by page. Read-after-write. */
  list<Kind extends ProcessorObjectKind>(
    kind: Kind,
    created: CreatedRange,
  ): AsyncIterable<Extract<ProcessorObject, { kind: Kind }>>
  /**
   * What happened in that time to what we follow, the newest first, page by page; whether a webhook told of it or not.
   * The processor knows of 30 days.
   */
  listEvents(created: CreatedRange): AsyncIterable<ProcessorEvent>

  /** Whether the processor sent these bytes, and lately: `now` less five minutes at most. Calls nobody. */
  verifyWebhook(body: Uint8Array, signature: string, now: Date): WebhookVerdict

  close(): Promise<void>
}

export type CustomerDescription = {
  /** As an earlier call told it. */
  readonly id?: string | undefined
  readonly email?: string | undefined
  readonly name?: string | undefined
  readonly metadata: ProcessorMetadata
}

export type NewSetupIntent = {
  readonly customerId: string
  readonly metadata: ProcessorMetadata
}

export type NewPaymentIntent = {
  readonly amountMinor: bigint
  readonly currency: string
  readonly customerId: string
  readonly description?: string | undefined
  readonly metadata: ProcessorMetadata
  /** Keep the card of this payment for later charges. */
  readonly keepsCard?: boolean | undefined
  /** Absent, the payment waits for the customer's browser to confirm it. */
  readonly confirm?: PaymentConfirmation | undefined
}

export type PaymentConfirmation = {
  readonly paymentMethodId: string
  /**
   * `off_session`: the customer is not there. A bank that wants to ask them turns the payment down with
   * `authentication_required`.
   */
  readonly presence: 'on_session' | 'off_session'
  /** Where a bank's page leads back to; on_session only. */
  readonly returnUrl?: string | undefined
}

export type PaymentChange = {
  readonly amountMinor?: bigint | undefined
  /** Of the payment, which keeps it. */
  readonly currency: string
  readonly metadata?: ProcessorMetadata | undefined
}

/** Bounds of the time of creation, inclusive, in whole seconds. */
export type CreatedRange = {
  readonly createdFrom: Date
  readonly createdTo?: Date | undefined
}

export type PaymentSearch = CreatedRange & {
  /** Absent: of all customers. */
  readonly customerId?: string | undefined
  /** What their metadata must have. */
  readonly metadata?: ProcessorMetadata | undefined
}

export type NewRefund = {
  readonly paymentIntentId: string
  /** Absent: all that is left. */
  readonly amountMinor?: bigint | undefined
  /** Of the payment. */
  readonly currency: string
  readonly reason?: 'duplicate' | 'fraudulent' | 'requested_by_customer' | undefined
  readonly metadata: ProcessorMetadata
}

export type ProcessorEvent = {
  readonly id: string
  /** The processor's own name of it: `payment_intent.succeeded` … */
  readonly type: string
  /** The name of its kind, where it has none of its own. */
  readonly objectId: string
  /** Undefined when it is about something we do not follow. */
  readonly objectKind: ProcessorObjectKind | undefined
  /** The connected account it happened in, where it is not our own. */
  readonly account: string | undefined
  readonly createdAt: Date
}

export type WebhookVerdict =
  | { readonly verdict: 'genuine'; readonly event: ProcessorEvent }
  | {
      readonly verdict: 'rejected'
      readonly reason:
        | 'bad_signature'
        | 'too_old'
        /** Signed, and no event that can be read. */
        | 'unreadable'
        /** Signed, and of the other environment. */
        | 'other_environment'
      readonly message: string
    }

/** A read was not answered, or not in time. */
export class PaymentProcessorUnavailableError extends Error {
  override readonly name = 'PaymentProcessorUnavailableError'
}
