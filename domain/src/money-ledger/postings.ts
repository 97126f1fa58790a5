import type { MoneyAccount, MoneyEntry, MoneyKind } from '../wallet/ledger.ts'

/*
 * What each thing that happens to money does to the ledger. Pure: the same thing is the same posting, under the same key,
 * however often it is told. What we have or are owed is positive, so that each posting adds up to nothing.
 */

export type Posting = {
  readonly kind: MoneyKind
  /** Names what happened: posted once. */
  readonly key: string
  /** Null where it is nobody's. */
  readonly customerRef: string | null
  readonly entries: readonly MoneyEntry[]
}

/** Minor units of a currency, upper case. */
export type Money = { readonly currency: string; readonly amountMinor: bigint }

type OfCustomer = Money & { readonly customerRef: string }

/** `chargedMinor`: its lines but for what earlier invoices left, which is `carriedInMinor`. Together they are its total. */
export type IssuedInvoice = {
  readonly reference: string
  readonly customerRef: string
  readonly currency: string
  readonly chargedMinor: bigint
  readonly carriedInMinor: bigint
}

export function invoiceIssued(invoice: IssuedInvoice): Posting {
  const { reference, customerRef } = invoice
  const key = `invoice:${reference}:issued`
  return { kind: 'invoice_issued', key, customerRef, entries: issueEntries(invoice, 1n) }
}

/** As if it had never been issued; what it took over from earlier invoices waits for the next one again. */
export function invoiceVoided(invoice: IssuedInvoice): Posting {
  const { reference, customerRef } = invoice
  const key = `invoice:${reference}:voided`
  return { kind: 'invoice_voided', key, customerRef, entries: issueEntries(invoice, -1n) }
}

function issueEntries(invoice: IssuedInvoice, sign: 1n | -1n): MoneyEntry[] {
  const { currency, chargedMinor, carriedInMinor } = invoice
  return entriesOf(currency, {
    receivable: sign * (chargedMinor + carriedInMinor),
    carried: -sign * carriedInMinor,
    revenue: -sign * chargedMinor,
  })
}

type OfInvoice = OfCustomer & { readonly invoiceRef: string }

/** Part of what is due moves on to the customer's next invoice; a credit is below nothing. Once for each invoice and `step`. */
export function invoiceCarried(carried: OfInvoice & { readonly step: string }): Posting {
  const { invoiceRef, customerRef, currency, amountMinor, step } = carried
  return {
    kind: 'invoice_carried',
    key: `invoice:${invoiceRef}:carried:${step}`,
    customerRef,
    entries: entriesOf(currency, { carried: amountMinor, receivable: -amountMinor }),
  }
}

export function invoiceWrittenOff({ invoiceRef, customerRef, ...due }: OfInvoice): Posting {
  return {
    kind: 'invoice_written_off',
    key: `invoice:${invoiceRef}:written-off`,
    customerRef,
    entries: entriesOf(due.currency, {
      written_off: due.amountMinor,
      receivable: -due.amountMinor,
    }),
  }
}

/** Where what is credited goes: off what is due, to the next invoice, or back to the customer as a refund. */
export type CreditNoteUse = 'invoice' | 'balance' | 'refund'

const accountOfCredit = {
  invoice: 'receivable',
  balance: 'carried',
  // The refund has been booked against revenue already; this takes it out of the account of refunds.
  refund: 'refunds',
} as const satisfies Record<CreditNoteUse, MoneyAccount>

export function creditNoteIssued(
  note: OfCustomer & { readonly reference: string; readonly settles: CreditNoteUse },
): Posting {
  const { reference, customerRef, currency, amountMinor, settles } = note
  return {
    kind: 'credit_note',
    key: `credit-note:${reference}`,
    customerRef,
    entries: entriesOf(currency, {
      revenue: amountMinor,
      [accountOfCredit[settles]]: -amountMinor,
    }),
  }
}

/** What a payment is for: an issued invoice, one that was written off already, or credits. */
export type PaymentUse = 'receivable' | 'written_off' | 'prepaid'

export function paymentSucceeded(
  payment: OfCustomer & { readonly chargeRef: string; readonly pays: PaymentUse },
): Posting {
  const { chargeRef, customerRef, currency, amountMinor, pays } = payment
  return {
    kind: 'payment_succeeded',
    key: `payment:${chargeRef}:succeeded`,
    customerRef,
    entries: entriesOf(currency, { clearing: amountMinor, [pays]: -amountMinor }),
  }
}

/**
 * What the processor made of a payment: its fee, and the money of another currency that it was exchanged into.
 * `settled` is before the fee, which is in the same currency.
 */
export type SettledPayment = {
  readonly customerRef: string
  readonly chargeRef: string
  readonly charged: Money
  readonly settled: Money
  readonly feeMinor: bigint
}

export function paymentSettled(payment: SettledPayment): Posting {
  const { customerRef, chargeRef, charged, settled, feeMinor } = payment
  return {
    kind: 'payment_settled',
    key: `payment:${chargeRef}:settled`,
    customerRef,
    entries: [
      ...exchange(charged, settled),
      ...entriesOf(settled.currency, { fees: feeMinor, clearing: -feeMinor }),
    ],
  }
}

function exchange(from: Money, into: Money): MoneyEntry[] {
  if (from.currency === into.currency) return []
  return [
    ...entriesOf(from.currency, { fx: from.amountMinor, clearing: -from.amountMinor }),
    ...entriesOf(into.currency, { fx: -into.amountMinor, clearing: into.amountMinor }),
  ]
}

type Refund = OfCustomer & { readonly refundRef: string }

/** On its way: owed to the customer, and still at the processor. */
export function refundPending(refund: Refund): Posting {
  return refundPosting('refund_pending', refund, 'pending', {
    refunds: refund.amountMinor,
    refunds_due: -refund.amountMinor,
  })
}

/** Post `refundPending` before, also for a refund that succeeds at once. */
export function refundSucceeded(refund: Refund): Posting {
  return refundPosting('refund_succeeded', refund, 'succeeded', {
    refunds_due: refund.amountMinor,
    clearing: -refund.amountMinor,
  })
}

/** Some fail after they succeeded, when the customer's bank sends the money back. */
export function refundFailed(refund: Refund & { readonly hadSucceeded: boolean }): Posting {
  const { amountMinor, hadSucceeded } = refund
  return refundPosting('refund_failed', refund, 'failed', {
    [hadSucceeded ? 'clearing' : 'refunds_due']: amountMinor,
    refunds: -amountMinor,
  })
}

function refundPosting(
  kind: MoneyKind,
  { refundRef, customerRef, currency }: Refund,
  step: string,
  amounts: Amounts,
): Posting {
  const key = `refund:${refundRef}:${step}`
  return { kind, key, customerRef, entries: entriesOf(currency, amounts) }
}

/** `step` tells one withdrawal or reinstatement of a dispute from the next: the balance transaction that made it. */
type Dispute = OfCustomer & { readonly disputeRef: string; readonly step: string }

/** The customer's bank takes the money, and the processor its fee for that. */
export function disputeWithdrawn(dispute: Dispute & { readonly feeMinor: bigint }): Posting {
  const { customerRef, disputeRef, step, currency, amountMinor, feeMinor } = dispute
  return {
    kind: 'dispute_withdrawn',
    key: `dispute:${disputeRef}:withdrawn:${step}`,
    customerRef,
    entries: entriesOf(currency, {
      disputes: amountMinor,
      fees: feeMinor,
      clearing: -amountMinor - feeMinor,
    }),
  }
}

/** The fee is given back by some processors, and then is part of what comes. */
export function disputeReinstated(dispute: Dispute & { readonly feeMinor: bigint }): Posting {
  const { customerRef, disputeRef, step, currency, amountMinor, feeMinor } = dispute
  return {
    kind: 'dispute_reinstated',
    key: `dispute:${disputeRef}:reinstated:${step}`,
    customerRef,
    entries: entriesOf(currency, {
      clearing: amountMinor + feeMinor,
      disputes: -amountMinor,
      fees: -feeMinor,
    }),
  }
}

/** `clearedMinor` left the processor's balance by our count; it may differ by parts of a minor unit that were added up. */
type Payout = Money & { readonly payoutRef: string; readonly clearedMinor: bigint }

export function payoutPaid(payout: Payout): Posting {
  return payoutPosting('payout_paid', payout, 1n)
}

/** Some fail days after they were paid: the money is at the processor again. */
export function payoutFailed(payout: Payout): Posting {
  return payoutPosting('payout_failed', payout, -1n)
}

function payoutPosting(
  kind: 'payout_paid' | 'payout_failed',
  { payoutRef, currency, amountMinor, clearedMinor }: Payout,
  sign: 1n | -1n,
): Posting {
  return {
    kind,
    key: `payout:${payoutRef}:${kind === 'payout_paid' ? 'paid' : 'failed'}`,
    customerRef: null,
    entries: entriesOf(currency, {
      bank: sign * amountMinor,
      clearing: -sign * clearedMinor,
      rounding: sign * (clearedMinor - amountMinor),
    }),
  }
}

type Amounts = { readonly [Account in MoneyAccount]?: bigint }

/** Of an account that nothing happens to there is no entry. */
function entriesOf(currency: string, amounts: Amounts): MoneyEntry[] {
  return Object.entries(amounts)
    .filter(([, amountMinor]) => amountMinor !== 0n)
    .map(([account, amountMinor]) => ({
      account: account as MoneyAccount,
      currency,
      amountMinor,
    }))
}
