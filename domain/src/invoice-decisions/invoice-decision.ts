import type { CreditedLine } from '../invoices/decide-credit.ts'

/** A stored decision of a person about an invoice. It is never changed. */
export type InvoiceDecision = {
  readonly reference: string
  readonly invoiceRef: string
  readonly kind: InvoiceChange['kind'] | 'issued'
  /** Minor units of the invoice's currency: credited, received, given up, to be refunded, charged by the lines, or due. */
  readonly amountMinor: bigint
  readonly reason: string
  /** Name of the actor, as in the audit log. */
  readonly decidedBy: string
  /** Null if nothing was credited. */
  readonly creditNoteRef: string | null
  /** Null if nothing was refunded. */
  readonly refundRef: string | null
  readonly createdAt: Date
}

/** A change of an invoice that a person requests. Amounts are minor units of the invoice's currency. */
export type InvoiceChange =
  | ({ readonly kind: 'credited' } & RequestedCredit)
  /** The invoice counts as never issued. */
  | { readonly kind: 'voided' }
  /** The amount due is given up. */
  | { readonly kind: 'written_off' }
  /** The customer paid without the payment processor. Without an amount, everything that was due. */
  | { readonly kind: 'paid_outside'; readonly amountMinor?: bigint | undefined }
  | ({ readonly kind: 'refunded' } & RequestedReturn)
  /** The invoice becomes due, and is charged, at `dueAt`. */
  | { readonly kind: 'due_date'; readonly dueAt: Date }
  /** The invoice is not charged automatically until a person releases it. */
  | { readonly kind: 'held' }
  | { readonly kind: 'released' }

/**
 * The part to credit: an amount with its tax, or lines without the tax that is added to them. If both are absent, everything that
 * can be credited is.
 */
export type RequestedCredit = {
  readonly amountMinor?: bigint | undefined
  readonly lines?: readonly CreditedLine[] | undefined
}

/** The part of the paid amount to return: to the card that paid it, or to the balance. Without an amount, all that is left. */
export type RequestedReturn = {
  readonly goesTo: 'card' | 'balance'
  readonly amountMinor?: bigint | undefined
}

export type DecisionRequest = {
  readonly invoiceRef: string
  readonly change: InvoiceChange
  readonly reason: string
}

export type DecisionRefusal =
  | { readonly kind: 'not-found' }
  /** The idempotency key was used with another request. */
  | { readonly kind: 'key-reused' }
  /** The customer was deleted, and has no next invoice. */
  | { readonly kind: 'customer-deleted' }
  /** The status of the invoice, or what was paid of it, does not allow the change. */
  | { readonly kind: 'impossible'; readonly status: string }
  /** A period of a purchase begins when the invoice is paid. */
  | { readonly kind: 'starts-period'; readonly purchaseRef: string }
  /** The invoice sold credits, which a refund takes back. */
  | { readonly kind: 'sold-credits' }
  /** More than what is left. */
  | { readonly kind: 'amount'; readonly leftMinor: bigint }
  | { readonly kind: 'line'; readonly line: number; readonly leftMinor: bigint }

export type DecisionOutcome =
  { readonly kind: 'decided'; readonly decision: InvoiceDecision } | DecisionRefusal

/** The result of a change that was made. */
export type DecidedChange = {
  readonly kind: 'changed'
  readonly amountMinor: bigint
  readonly creditNoteRef?: string
  readonly refundRef?: string
}
