/*
 * Objects of the payment processor in our own terms. Amounts are in minor units of their currency; currencies are ISO 4217 codes in
 * upper case. Every object is a snapshot and may have changed since.
 */

/** References that we store on an object of the processor to find it again. Never personal data. */
export type ProcessorMetadata = Readonly<Record<string, string>>

export type ProcessorCustomer = {
  readonly id: string
  readonly email: string | undefined
  readonly name: string | undefined
  /** The payment method that is charged by default. */
  readonly defaultPaymentMethodId: string | undefined
  readonly metadata: ProcessorMetadata
}

/** A payment method stored at the processor. Details are known for cards only. */
export type PaymentMethod = {
  readonly id: string
  /** Undefined if no customer owns it, or owns it any longer. It can then be charged at most once. */
  readonly customerId: string | undefined
  readonly card: PaymentCard | undefined
}

export type PaymentCard = {
  /** The processor's name of the brand: `visa`, `mastercard`, `amex` … */
  readonly brand: string
  readonly last4: string
  /** 1 to 12. */
  readonly expMonth: number
  readonly expYear: number
}

/**
 * `open` waits for a payment method or for confirmation. An earlier failed attempt is reported as the last decline. `succeeded` and
 * `canceled` are final.
 */
export type IntentStatus = 'open' | 'requires_action' | 'processing' | 'succeeded' | 'canceled'

/** What the customer must do before the payment continues, such as 3-D Secure. */
export type NextAction =
  | { readonly kind: 'redirect'; readonly url: string }
  /** The processor's browser library handles it with the client secret. */
  | { readonly kind: 'browser' }

/** An attempt that the processor or the bank declined. */
export type Decline = {
  /** `card_declined`, `expired_card`, `authentication_required` … */
  readonly code: string
  /** The bank's reason, if it gave one: `insufficient_funds`, `lost_card` … */
  readonly declineCode: string | undefined
  /** The same card will be declined again. Another attempt is useless, and card networks count it against the merchant. */
  readonly isHard: boolean
  /** The customer must be present, because the bank requires authentication. */
  readonly needsCustomer: boolean
  /** Text for people, in English. */
  readonly message: string
}

type Intent = {
  readonly id: string
  readonly status: IntentStatus
  readonly customerId: string | undefined
  readonly paymentMethodId: string | undefined
  /** Lets a browser continue this one intent. It is only for the customer: never log it or put it in an event. */
  readonly clientSecret: string | undefined
  readonly nextAction: NextAction | undefined
  readonly lastDecline: Decline | undefined
  readonly metadata: ProcessorMetadata
  readonly createdAt: Date
}

/** One amount to be paid. It is charged at most once, however many attempts there are. */
export type PaymentIntent = Intent & {
  readonly kind: 'payment_intent'
  readonly amountMinor: bigint
  readonly receivedMinor: bigint
  readonly currency: string
  /** The charge of the last attempt. */
  readonly chargeId: string | undefined
  /** Settlement of that charge, as returned by `retrieve`. Undefined if not requested, or not yet known. */
  readonly settlement: Settlement | undefined
}

/** Saves a card for later charges, without a payment now. */
export type SetupIntent = Intent & { readonly kind: 'setup_intent' }

export type Charge = {
  readonly kind: 'charge'
  readonly id: string
  readonly status: 'succeeded' | 'pending' | 'failed'
  readonly amountMinor: bigint
  readonly refundedMinor: bigint
  readonly currency: string
  readonly customerId: string | undefined
  readonly paymentIntentId: string | undefined
  readonly card: PaymentCard | undefined
  readonly isDisputed: boolean
  /** The amount that reached our balance, in the currency of the balance. Undefined until then. */
  readonly settlement: Settlement | undefined
  readonly createdAt: Date
}

export type Settlement = {
  readonly amountMinor: bigint
  readonly feeMinor: bigint
  readonly netMinor: bigint
  /** The part of the net that `netMinor` does not contain, in the processor's units. 0 if those equal our minor units. */
  readonly restUnits: bigint
  readonly currency: string
}

/** A refund can still fail after it succeeded. The money is then back in our balance. */
export type Refund = {
  readonly kind: 'refund'
  readonly id: string
  readonly status: 'pending' | 'requires_action' | 'succeeded' | 'failed' | 'canceled'
  readonly amountMinor: bigint
  readonly currency: string
  readonly chargeId: string | undefined
  readonly paymentIntentId: string | undefined
  readonly reason: string | undefined
  readonly pendingReason: string | undefined
  readonly failureReason: string | undefined
  /**
   * The amount taken from our balance (negative), and in `failureSettlement` the amount returned after a failure, as returned by
   * `retrieve`.
   */
  readonly settlement: Settlement | undefined
  readonly failureSettlement: Settlement | undefined
  readonly metadata: ProcessorMetadata
  readonly createdAt: Date
}

export type Dispute = {
  readonly kind: 'dispute'
  readonly id: string
  readonly status:
    | 'warning_needs_response'
    | 'warning_under_review'
    | 'warning_closed'
    | 'needs_response'
    | 'under_review'
    | 'won'
    | 'lost'
    | 'prevented'
  readonly amountMinor: bigint
  readonly currency: string
  readonly reason: string
  readonly chargeId: string
  readonly paymentIntentId: string | undefined
  /** Amounts that the dispute took from our balance (negative) and returned, the oldest first. */
  readonly movements: readonly (Settlement & { readonly id: string })[]
  readonly createdAt: Date
}

/** A payout can still fail within days after it was paid. */
export type Payout = {
  readonly kind: 'payout'
  readonly id: string
  readonly status: 'pending' | 'in_transit' | 'paid' | 'failed' | 'canceled'
  readonly amountMinor: bigint
  /** The part of the amount that `amountMinor` does not contain, in the processor's units. 0 if those equal our minor units. */
  readonly restUnits: bigint
  readonly currency: string
  readonly arrivalDate: Date
  readonly failureCode: string | undefined
  readonly failureMessage: string | undefined
  readonly createdAt: Date
}

/** The objects whose events we process. */
export type ProcessorObject = PaymentIntent | SetupIntent | Charge | Refund | Dispute | Payout
export type ProcessorObjectKind = ProcessorObject['kind']
