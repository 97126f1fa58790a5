import type { InvoiceStatus } from '@tollgate/schemas/http/invoices'

export type { InvoiceStatus }

/** Events that can move an invoice. */
export type InvoiceTrigger =
  | 'issued'
  | 'paid'
  | 'carried'
  | 'credited'
  | 'voided'
  | 'written-off'
  | 'refunded'
  | 'refund-undone'

/** Minor units of the invoice's currency. */
export type InvoiceAmounts = {
  /** Sum of the lines. Negative for a credit. */
  readonly totalMinor: bigint
  /** Carried over to the customer's next invoice: an amount that is too small to be charged, or a credit. */
  readonly carriedMinor: bigint
  readonly paidMinor: bigint
  /** Credited by credit notes before the invoice was paid. */
  readonly creditedMinor: bigint
  readonly refundedMinor: bigint
}

export type Transition = {
  readonly from: readonly InvoiceStatus[]
  /** Condition on the amounts that must also hold. */
  readonly when?: (amounts: InvoiceAmounts) => boolean
  /** The amount that the move increases. Absent if no money moves. */
  readonly adds?: keyof Omit<InvoiceAmounts, 'totalMinor'>
  /** -1 if the move decreases the amount. */
  readonly sign?: 1n | -1n
  /** Whether the move accepts a credit, which is a negative amount. */
  readonly acceptsCredit?: boolean
  /** Status while some of the remainder `of` is left. Absent if the status stays. */
  readonly to?: InvoiceStatus
  /** Status once nothing of the remainder `of` is left. */
  readonly whenNothingLeft?: InvoiceStatus
  readonly of?: Remainder
}

/** `due`: not paid, credited or carried over yet. `kept`: paid and not refunded. `refunded`: paid and refunded. */
type Remainder = 'due' | 'kept' | 'refunded'

/** All possible moves of an invoice. Every other move is refused. */
export const invoiceTransitions: Readonly<Record<InvoiceTrigger, Transition>> = {
  issued: { from: ['draft'], to: 'open', whenNothingLeft: 'paid', of: 'due' },
  paid: { from: ['open', 'uncollectible'], adds: 'paidMinor', whenNothingLeft: 'paid', of: 'due' },
  carried: {
    from: ['open'],
    adds: 'carriedMinor',
    acceptsCredit: true,
    whenNothingLeft: 'paid',
    of: 'due',
  },
  credited: { from: ['open'], adds: 'creditedMinor', whenNothingLeft: 'paid', of: 'due' },
  // An invoice that is settled in part cannot be voided.
  voided: {
    from: ['draft', 'open'],
    when: (amounts) => dueMinor(amounts) === amounts.totalMinor,
    to: 'void',
  },
  'written-off': {
    from: ['open'],
    when: (amounts) => dueMinor(amounts) > 0n,
    to: 'uncollectible',
  },
  refunded: {
    from: ['paid', 'partly_refunded'],
    adds: 'refundedMinor',
    to: 'partly_refunded',
    whenNothingLeft: 'refunded',
    of: 'kept',
  },
  'refund-undone': {
    from: ['partly_refunded', 'refunded'],
    adds: 'refundedMinor',
    sign: -1n,
    to: 'partly_refunded',
    whenNothingLeft: 'paid',
    of: 'refunded',
  },
}

export type InvoiceState = InvoiceAmounts & { readonly status: InvoiceStatus }

/**
 * Returns the amount that is not paid, credited or carried over, in minor units. Uncollectible invoices have one as
 * well.
 */
export function dueMinor(amounts: InvoiceAmounts): bigint {
  const { totalMinor, carriedMinor, paidMinor, creditedMinor } = amounts
  return totalMinor - carriedMinor - paidMinor - creditedMinor
}

export type MoveDecision<State> =
  | { readonly kind: 'moved'; readonly invoice: State }
  /** The invoice's status does not allow the move. */
  | { readonly kind: 'impossible' }
  /** The amount exceeds what is left, or has the wrong sign. */
  | { readonly kind: 'amount'; readonly leftMinor: bigint }

/**
 * Applies a trigger to an invoice. `amountMinor` is the amount that moves; it is negative for a credit that is carried
 * over.
 */
export function decideMove<State extends InvoiceState>(
  invoice: State,
  trigger: InvoiceTrigger,
  amountMinor = 0n,
): MoveDecision<State> {
  const transition = invoiceTransitions[trigger]
  if (!transition.from.includes(invoice.status)) return { kind: 'impossible' }
  if (transition.when?.(invoice) === false) return { kind: 'impossible' }
  const { adds, sign = 1n, of, acceptsCredit = false } = transition
  if (adds !== undefined) {
    const leftMinor = remainderOf(invoice, of)
    const isPart = isPartOf(amountMinor, leftMinor) && (amountMinor > 0n || acceptsCredit)
    if (!isPart) return { kind: 'amount', leftMinor }
  }
  const amounts = adds === undefined ? {} : { [adds]: invoice[adds] + sign * amountMinor }
  const changed = { ...invoice, ...amounts }
  return { kind: 'moved', invoice: { ...changed, status: statusAfter(changed, transition) } }
}

function statusAfter(invoice: InvoiceState, { to, whenNothingLeft, of }: Transition) {
  if (whenNothingLeft !== undefined && remainderOf(invoice, of) === 0n) return whenNothingLeft
  return to ?? invoice.status
}

function remainderOf(amounts: InvoiceAmounts, of: Remainder = 'due'): bigint {
  switch (of) {
    case 'due':
      return dueMinor(amounts)
    case 'kept':
      return amounts.paidMinor - amounts.refundedMinor
    case 'refunded':
      return amounts.refundedMinor
  }
}

/** Returns whether the amount is not 0, has the sign of `left`, and does not exceed it. */
function isPartOf(amount: bigint, left: bigint): boolean {
  return amount > 0n ? amount <= left : amount < 0n && amount >= left
}
