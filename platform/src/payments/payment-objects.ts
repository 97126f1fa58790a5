/*
 * What the payment processor keeps, in our own words. Amounts are minor units of their currency; currencies are ISO 4217
 * in upper case. Every object is as the processor told it at one moment and may have moved on since.
 */

/** What we write on an object of the processor to find it again by: references of ours, never anything about a person. */
export type ProcessorMetadata = Readonly<Record<string, string>>

export type ProcessorCustomer = {
  readonly id: string
  readonly email: string | undefined
  readonly name: string | undefined
  /** What the customer is charged with when nothing else is said. */
  readonly defaultPaymentMethodId: string | undefined
  readonly metadata: ProcessorMetadata
}

/** A means of payment that the processor keeps. Only cards tell more than that they exist. */
export type PaymentMethod = {
  readonly id: string
  /** Undefined when it belongs to nobody (any more): such a one can be charged once at most. */
  readonly customerId: string | undefined
  readonly card: PaymentCard | undefined
}

export type PaymentCard = {
  /** As the processor writes it: `visa`, `mastercard`, `amex` … */
  readonly brand: string
  readonly last4: string
  /** 1 to 12. */
  readonly expMonth: number
  readonly expYear: number
}

/**
 * `open` waits for a means of payment or for being confirmed; what was tried before, if anything, failed and is told as
 * the last decline. `succeeded` and `canceled` are final.
 */
export type IntentStatus = 'open' | 'requires_action' | 'processing' | 'succeeded' | 'canceled'

/** What the customer must do before the payment goes on, such as 3-D Secure. */
export type NextAction =
  | { readonly kind: 'redirect'; readonly url: string }
  /** The processor's own browser library knows what to do, given the client secret. */
  | { readonly kind: 'browser' }

/** An attempt that the processor, or the bank behind it, turned down. */
export type Decline = {
  /** `card_declined`, `expired_card`, `authentication_required` … */
  readonly code: string
  /** What the bank gave as its reason, if it gave one: `insufficient_funds`, `lost_card` … */
  readonly declineCode: string | undefined
  /** The same card will be turned down again: trying it once more is useless and held against us. */
  readonly isHard: boolean
  /** The customer has to be there: their bank wants to ask them. */
  readonly needsCustomer: boolean
  /** For people, in English. */
  readonly message: string
}

type Intent = {
  readonly id: string
  readonly status: IntentStatus
  readonly customerId: string | undefined
  readonly paymentMethodId: string | undefined
  /** Lets a browser go on with this one intent. For the customer alone: never logged, never in an event. */
  readonly clientSecret: string | undefined
  readonly nextAction: NextAction | undefined
  readonly lastDecline: Decline | undefined
  readonly metadata: ProcessorMetadata
  readonly createdAt: Date
}

/** One amount to be paid. However often it is tried, it is charged once at most. */
export type PaymentIntent = Intent & {
  readonly kind: 'payment_intent'
  readonly amountMinor: bigint
  readonly receivedMinor: bigint
  readonly currency: string
  /** The charge of the last try. */
  readonly chargeId: string | undefined
  /** Of that charge, as `retrieve` tells it. Undefined: not told, or not known yet. */
  readonly settlement: Settlement | undefined
}

/** A card that is to be kept for later charges, without a payment now. */
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
  /** What reached our balance, in the currency of the balance. Undefined until it did. */
  readonly settlement: Settlement | undefined
  readonly createdAt: Date
}

export type Settlement = {
  readonly amountMinor: bigint
  readonly feeMinor: bigint
  readonly netMinor: bigint
  /** What `netMinor` leaves out of the net, in the processor's units; none where those are ours. */
  readonly restUnits: bigint
  readonly currency: string
}

/** A refund can still fail after it succeeded: the money is then back on our balance. */
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
  /** What it took from our balance (below zero), and gave back to it when it failed, as `retrieve` tells it. */
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
  /** What the dispute took from our balance (below zero) and gave back, the oldest first. */
  readonly movements: readonly (Settlement & { readonly id: string })[]
  readonly createdAt: Date
}

/** A payout can still fail within days after it was paid. */
export type Payout = {
  readonly kind: 'payout'
  readonly id: string
  readonly status: 'pending' | 'in_transit' | 'paid' | 'failed' | 'canceled'
  readonly amountMinor: bigint
  /** What `amountMinor` leaves out, in the processor's units; none where those are ours. */
  readonly restUnits: bigint
  readonly currency: string
  readonly arrivalDate: Date
  readonly failureCode: string | undefined
  readonly failureMessage: string | undefined
  readonly createdAt: Date
}

/** What an event of the processor can be about, as far as we follow it. */
export type ProcessorObject = PaymentIntent | SetupIntent | Charge | Refund | Dispute | Payout
export type ProcessorObjectKind = ProcessorObject['kind']
