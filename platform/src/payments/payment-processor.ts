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
 * The payment processor of one environment.
 *
 * Every write takes an idempotency key of at most 200 characters, which the caller has stored before. The same key with the same
 * parameters has its effect once, for 24 hours. Writes do not throw for failures at the processor: a write that may or may not have
 * happened has the outcome `unknown`. Reads throw a PaymentProcessorUnavailableError. No call takes longer than the configured
 * timeout.
 */
export interface PaymentProcessor {
  /**
   * Ensures that the customer exists as described. Creates it if it has no id or was deleted, and updates it if it differs. A key
   * must only be reused with the same description.
   */
  ensureCustomer(customer: CustomerDescription, key: string): Promise<Written<ProcessorCustomer>>
  retrieveCustomer(id: string): Promise<ProcessorCustomer | undefined>
  /** Deletes a customer and its cards permanently. Succeeds if it was already deleted, so it needs no key. */
  deleteCustomer(id: string): Promise<Written<undefined>>

  /** Returns the cards of a customer, the newest first. */
  listPaymentMethods(customerId: string): Promise<readonly PaymentMethod[]>
  retrievePaymentMethod(id: string): Promise<PaymentMethod | undefined>
  /** Attaches a payment method to a customer. The outcome is `declined` if the bank declines it. */
  attachPaymentMethod(
    id: string,
    customerId: string,
    key: string,
  ): Promise<Written<PaymentMethod> | Extract<SetupOutcome, { intent: undefined }>>
  /** Detaches a payment method permanently: it cannot be charged or attached again. */
  detachPaymentMethod(id: string, key: string): Promise<Written<PaymentMethod>>
  /** Sets the default payment method. Undefined removes the default. */
  setDefaultPaymentMethod(
    customerId: string,
    paymentMethodId: string | undefined,
    key: string,
  ): Promise<Written<ProcessorCustomer>>

  createSetupIntent(setup: NewSetupIntent, key: string): Promise<SetupOutcome>

  createPaymentIntent(payment: NewPaymentIntent, key: string): Promise<PaymentOutcome>
  /** Changes a payment intent that is still open. */
  changePaymentIntent(id: string, change: PaymentChange, key: string): Promise<PaymentOutcome>
  /** Makes the next attempt of the same payment. If it has already succeeded, returns that outcome. */
  confirmPaymentIntent(
    id: string,
    confirmation: PaymentConfirmation,
    key: string,
  ): Promise<PaymentOutcome>
  /** Cancels a payment intent. If it has already ended, returns that outcome. */
  cancelPaymentIntent(id: string, key: string): Promise<PaymentOutcome>
  /**
   * Returns matching payment intents, the newest first, loaded page by page. Reads are consistent: an intent that is not found does
   * not exist.
   */
  findPaymentIntents(search: PaymentSearch): AsyncIterable<PaymentIntent>

  createRefund(refund: NewRefund, key: string): Promise<Written<Refund>>

  /** Returns the current state of the object of an event, or undefined if it does not exist. */
  retrieve<Kind extends ProcessorObjectKind>(
    kind: Kind,
    id: string,
  ): Promise<Extract<ProcessorObject, { kind: Kind }> | undefined>

  /** Returns all objects of a kind created in that time, the newest first, loaded page by page. Reads are consistent. */
  list<Kind extends ProcessorObjectKind>(
    kind: Kind,
    created: CreatedRange,
  ): AsyncIterable<Extract<ProcessorObject, { kind: Kind }>>
  /**
   * Returns the events of that time for the objects we process, the newest first, loaded page by page, including events whose
   * webhook was lost. The processor keeps events for 30 days.
   */
  listEvents(created: CreatedRange): AsyncIterable<ProcessorEvent>

  /** Checks the signature of a webhook, and that it is at most five minutes old. Makes no request. */
  verifyWebhook(body: Uint8Array, signature: string, now: Date): WebhookVerdict

  close(): Promise<void>
}

export type CustomerDescription = {
  /** Id that an earlier call returned. */
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
  /** Save the card of this payment for later charges. */
  readonly keepsCard?: boolean | undefined
  /** If absent, the payment waits for confirmation by the customer's browser. */
  readonly confirm?: PaymentConfirmation | undefined
}

export type PaymentConfirmation = {
  readonly paymentMethodId: string
  /**
   * `off_session`: the customer is not present. A bank that requires authentication declines the payment with
   * `authentication_required`.
   */
  readonly presence: 'on_session' | 'off_session'
  /** URL to which the bank's page returns the customer; for `on_session` only. */
  readonly returnUrl?: string | undefined
}

export type PaymentChange = {
  readonly amountMinor?: bigint | undefined
  /** Currency of the payment. It cannot be changed. */
  readonly currency: string
  readonly metadata?: ProcessorMetadata | undefined
}

/** Range of creation times, inclusive, in whole seconds. */
export type CreatedRange = {
  readonly createdFrom: Date
  readonly createdTo?: Date | undefined
}

export type PaymentSearch = CreatedRange & {
  /** Customer of the payments. Absent means all customers. */
  readonly customerId?: string | undefined
  /** Entries that the metadata must contain. */
  readonly metadata?: ProcessorMetadata | undefined
}

export type NewRefund = {
  readonly paymentIntentId: string
  /** Amount to refund. Absent means the whole remaining amount. */
  readonly amountMinor?: bigint | undefined
  /** Currency of the payment. */
  readonly currency: string
  readonly reason?: 'duplicate' | 'fraudulent' | 'requested_by_customer' | undefined
  readonly metadata: ProcessorMetadata
}

export type ProcessorEvent = {
  readonly id: string
  /** The processor's event type: `payment_intent.succeeded` … */
  readonly type: string
  /** Id of the object, or the name of its kind if it has no id. */
  readonly objectId: string
  /** Undefined if the event is about an object that we do not process. */
  readonly objectKind: ProcessorObjectKind | undefined
  /** The connected account of the event, if it is not our own. */
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
        /** The signature is valid, but the body is not an event. */
        | 'unreadable'
        /** The signature is valid, but the event belongs to the other environment. */
        | 'other_environment'
      readonly message: string
    }

/** A read was not answered in time. */
export class PaymentProcessorUnavailableError extends Error {
  override readonly name = 'PaymentProcessorUnavailableError'
}
