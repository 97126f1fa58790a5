import type { InvoiceStatus } from '@tollgate/schemas/http/invoices'

export type { InvoiceStatus }

/** What can happen to an invoice after it was made. */
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
  /** What the lines add up to. Below nothing: a credit. */
  readonly totalMinor: bigint
  /** Moved on to the customer's next invoice: too little to be charged, or a credit. */
  readonly carriedMinor: bigint
  readonly paidMinor: bigint
  /** Taken back by credit notes before it was paid. */
  readonly creditedMinor: bigint
  readonly refundedMinor: bigint
}

export type Transition = {
  readonly from: readonly InvoiceStatus[]
  /** What else must be true of it. */
  readonly when?: (amounts: InvoiceAmounts) => boolean
  /** The amount that it adds to; absent: it moves no money. */
  readonly adds?: keyof Omit<InvoiceAmounts, 'totalMinor'>
  /** -1: it takes away instead. */
  readonly sign?: 1n | -1n
  /** A credit can be moved so, which is an amount below nothing. */
  readonly takesCredit?: boolean
  /** The status while something of `of` is left; absent: the status stays. */
  readonly to?: InvoiceStatus
  /** The status once nothing of `of` is left. */
  readonly whenNothingLeft?: InvoiceStatus
  readonly of?: Remainder
}

/** `due`: not settled yet. `kept`: paid and not paid back. `refunded`: paid back. */
type Remainder = 'due' | 'kept' | 'refunded'

/** Every move that an invoice can make. What is not in this table does not happen. */
export const invoiceTransitions: Readonly<Record<InvoiceTrigger, Transition>> = {
  issued: { from: ['draft'], to: 'open', whenNothingLeft: 'paid', of: 'due' },
  paid: { from: ['open', 'uncollectible'], adds: 'paidMinor', whenNothingLeft: 'paid', of: 'due' },
  carried: {
    from: ['open'],
    adds: 'carriedMinor',
    takesCredit: true,
    whenNothingLeft: 'paid',
    of: 'due',
  },
  credited: { from: ['open'], adds: 'creditedMinor', whenNothingLeft: 'paid', of: 'due' },
  // What is settled in part cannot be as if it had never been.
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

/** To be paid yet, whether or not anybody still expects it. */
export function dueMinor(amounts: InvoiceAmounts): bigint {
  const { totalMinor, carriedMinor, paidMinor, creditedMinor } = amounts
  return totalMinor - carriedMinor - paidMinor - creditedMinor
}

export type MoveDecision<State> =
  | { readonly kind: 'moved'; readonly invoice: State }
  /** Its status does not let it. */
  | { readonly kind: 'impossible' }
  /** The amount is not one that is left, or none where there must be one. */
  | { readonly kind: 'amount'; readonly leftMinor: bigint }

/** What a trigger makes of an invoice. `amountMinor` is what it moves; a credit that is carried is below nothing. */
export function decideMove<State extends InvoiceState>(
  invoice: State,
  trigger: InvoiceTrigger,
  amountMinor = 0n,
): MoveDecision<State> {
  const transition = invoiceTransitions[trigger]
  if (!transition.from.includes(invoice.status)) return { kind: 'impossible' }
  if (transition.when?.(invoice) === false) return { kind: 'impossible' }
  const { adds, sign = 1n, of, takesCredit = false } = transition
  if (adds !== undefined) {
    const leftMinor = remainderOf(invoice, of)
    const isPart = isPartOf(amountMinor, leftMinor) && (amountMinor > 0n || takesCredit)
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

/** Something, of the same sign as what is left, and no more than it. */
function isPartOf(amount: bigint, left: bigint): boolean {
  return amount > 0n ? amount <= left : amount < 0n && amount >= left
}
