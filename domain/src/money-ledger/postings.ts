import { entriesOf, type Amounts } from './entries-of.ts'
import type { MoneyAccount, MoneyEntry, MoneyKind } from './ledger.ts'

/*
 * Ledger postings of every event that moves money. The functions are pure: the same event gives the same posting with the same key,
 * however often it is reported. What we have or are owed is positive, so each posting sums to 0.
 */

export type Posting = {
  readonly kind: MoneyKind
  /** Name of the event, which is posted once. */
  readonly key: string
  /** The customer of the posting; null for a payout. */
  readonly customerRef: string | null
  /** The invoice that the posting is about. */
  readonly invoiceRef?: string
  readonly entries: readonly MoneyEntry[]
  /** Additional movement at the processor that is finer than the ledger's minor units. */
  readonly rest?: FinerRest
}

/** `units` of the processor, positive or negative, less than one minor unit of the currency. */
export type FinerRest = { readonly currency: string; readonly units: bigint }

/** Amount in minor units, and the currency in upper case. */
export type Money = { readonly currency: string; readonly amountMinor: bigint }

export type CustomerAmount = Money & { readonly customerRef: string }

/**
 * `chargedMinor`: sum of the invoice's lines without `carriedInMinor`, the amount carried over from earlier invoices. Both sum to
 * its total. `taxMinor`: the part of `chargedMinor` that is tax.
 */
export type IssuedInvoice = {
  readonly sells: SoldAs
  readonly reference: string
  readonly customerRef: string
  readonly currency: string
  readonly chargedMinor: bigint
  readonly taxMinor: bigint
  readonly carriedInMinor: bigint
}

export function invoiceIssued(invoice: IssuedInvoice): Posting {
  return invoicePosting('invoice_issued', 'issued', invoice, issueEntries(invoice, 1n))
}

/** Reverses the issue of an invoice. Amounts that it took over from earlier invoices are carried over to the next one again. */
export function invoiceVoided(invoice: IssuedInvoice): Posting {
  return invoicePosting('invoice_voided', 'voided', invoice, issueEntries(invoice, -1n))
}

/** Account of what is sold. Charges are earned when invoiced, except credits, which are owed until they are used. */
export type SoldAs = Extract<MoneyAccount, 'revenue' | 'prepaid'>

function issueEntries(invoice: IssuedInvoice, sign: 1n | -1n): MoneyEntry[] {
  const { sells, currency, chargedMinor, taxMinor, carriedInMinor } = invoice
  return entriesOf(currency, {
    receivable: sign * (chargedMinor + carriedInMinor),
    carried: -sign * carriedInMinor,
    [sells]: -sign * (chargedMinor - taxMinor),
    tax: -sign * taxMinor,
  })
}

function invoicePosting(
  kind: MoneyKind,
  step: string,
  { reference, customerRef }: { readonly reference: string; readonly customerRef: string },
  entries: readonly MoneyEntry[],
): Posting {
  const key = `invoice:${reference}:${step}`
  return { kind, key, customerRef, invoiceRef: reference, entries }
}

type InvoiceAmount = CustomerAmount & { readonly invoiceRef: string }

/** Posts an amount that moves on to the customer's next invoice; a credit is negative. Posted once for each invoice and `step`. */
export function invoiceCarried(carried: InvoiceAmount & { readonly step: string }): Posting {
  const { invoiceRef: reference, customerRef, currency, amountMinor, step } = carried
  const entries = entriesOf(currency, { carried: amountMinor, receivable: -amountMinor })
  return invoicePosting('invoice_carried', `carried:${step}`, { reference, customerRef }, entries)
}

export function invoiceWrittenOff({ invoiceRef, customerRef, ...due }: InvoiceAmount): Posting {
  const { currency, amountMinor } = due
  const entries = entriesOf(currency, { written_off: amountMinor, receivable: -amountMinor })
  const invoice = { reference: invoiceRef, customerRef }
  return invoicePosting('invoice_written_off', 'written-off', invoice, entries)
}

type OutsidePayment = InvoiceAmount & {
  readonly paymentRef: string
  readonly pays: Exclude<PaymentUse, 'refunds'>
}

/** Posts money for an invoice that reached the provider without the payment processor. */
export function invoicePaidOutside(payment: OutsidePayment): Posting {
  const { invoiceRef: reference, customerRef, currency, amountMinor, paymentRef, pays } = payment
  const entries = entriesOf(currency, { outside: amountMinor, [pays]: -amountMinor })
  const invoice = { reference, customerRef }
  return invoicePosting('invoice_paid_outside', `paid-outside:${paymentRef}`, invoice, entries)
}

/** Use of a credit note: it reduces what is due, is credited on the next invoice, or is paid back as a refund. */
export type CreditNoteUse = 'invoice' | 'balance' | 'refund'

const creditNoteAccounts = {
  invoice: 'receivable',
  balance: 'carried',
  // The money has left through the `refunds` account, and this entry balances that account.
  refund: 'refunds',
} as const satisfies Record<CreditNoteUse, MoneyAccount>

/** `taxMinor` is the part of the amount that is tax no longer owed. */
export type CreditNotePosting = InvoiceAmount & {
  readonly reference: string
  /** Account of what the invoice sold. */
  readonly sold: SoldAs
  readonly settles: CreditNoteUse
  readonly taxMinor: bigint
}

export function creditNoteIssued(note: CreditNotePosting): Posting {
  return creditNotePosting(note, 'issued', 1n)
}

/** Posts the reversal of a credit note whose refund failed. */
export function creditNoteVoided(note: CreditNotePosting): Posting {
  return creditNotePosting(note, 'voided', -1n)
}

/**
 * For refunded credits the price is posted against the `refunds` account, so of a refund to the card only the tax is left. Unused
 * credits are removed from the wallet, and their value then moves to that account. The value of used credits stays there.
 */
function creditNotePosting(
  note: CreditNotePosting,
  step: 'issued' | 'voided',
  sign: 1n | -1n,
): Posting {
  const { reference, invoiceRef, customerRef, currency, amountMinor, taxMinor, settles } = note
  const netMinor = amountMinor - taxMinor
  const from = note.sold === 'prepaid' && settles !== 'invoice' ? 'refunds' : note.sold
  const to = creditNoteAccounts[settles]
  const posted = from === to ? 0n : netMinor
  return {
    kind: 'credit_note',
    key: step === 'issued' ? `credit-note:${reference}` : `credit-note:${reference}:voided`,
    customerRef,
    invoiceRef,
    entries: entriesOf(currency, {
      [from]: sign * posted,
      tax: sign * taxMinor,
      [to]: -sign * (posted + taxMinor),
    }),
  }
}

/**
 * What a payment pays: an issued invoice, an invoice that was already written off, or nothing that could be delivered, so that it
 * is refunded.
 */
export type PaymentUse = 'receivable' | 'written_off' | 'refunds'

type SucceededPayment = CustomerAmount & {
  readonly chargeRef: string
  readonly pays: PaymentUse
  readonly invoiceRef?: string
}

export function paymentSucceeded(payment: SucceededPayment): Posting {
  const { chargeRef, customerRef, currency, amountMinor, pays, invoiceRef } = payment
  return {
    kind: 'payment_succeeded',
    key: paymentKey(chargeRef),
    customerRef,
    ...(invoiceRef === undefined ? {} : { invoiceRef }),
    entries: entriesOf(currency, { clearing: amountMinor, [pays]: -amountMinor }),
  }
}

/** Returns the key by which a posted payment is found. */
export function paymentKey(chargeRef: string): string {
  return `payment:${chargeRef}:succeeded`
}

/**
 * Settlement of a payment at the processor: the fee, and the currency conversion. `settled` is the amount before the fee, in the
 * same currency as the fee.
 */
export type SettledPayment = {
  readonly customerRef: string
  readonly chargeRef: string
  readonly charged: Money
  readonly settled: Money
  readonly feeMinor: bigint
  /** Finer rest of `settled` minus the fee. */
  readonly restUnits?: bigint
}

export function paymentSettled(payment: SettledPayment): Posting {
  const { customerRef, chargeRef, charged, settled, feeMinor } = payment
  return {
    kind: 'payment_settled',
    key: `payment:${chargeRef}:settled`,
    customerRef,
    entries: settlementEntries(charged, settled, feeMinor),
    ...restOf(settled.currency, payment),
  }
}

function settlementEntries(charged: Money, settled: Money, feeMinor: bigint): MoneyEntry[] {
  return [
    ...exchangeEntries(charged, settled),
    ...entriesOf(settled.currency, { fees: feeMinor, clearing: -feeMinor }),
  ]
}

function exchangeEntries(from: Money, into: Money): MoneyEntry[] {
  if (from.currency === into.currency) return []
  return [
    ...entriesOf(from.currency, { fx: from.amountMinor, clearing: -from.amountMinor }),
    ...entriesOf(into.currency, { fx: -into.amountMinor, clearing: into.amountMinor }),
  ]
}

/**
 * `taxMinor` is the part of the refund that is tax no longer owed. If the payment paid an invoice, a credit note states the tax
 * instead. Only sales from before every payment had an invoice have it here.
 */
type Refund = CustomerAmount & {
  readonly refundRef: string
  readonly taxMinor?: bigint
  readonly invoiceRef?: string
}

/** Posts a refund in progress: it is owed to the customer, and the money is still at the processor. */
export function refundPending(refund: Refund): Posting {
  const { amountMinor, taxMinor = 0n } = refund
  return refundPosting('refund_pending', refund, 'pending', {
    refunds: amountMinor - taxMinor,
    tax: taxMinor,
    refunds_due: -amountMinor,
  })
}

/** Posts a successful refund. `refundPending` must be posted before, also if the refund succeeds at once. */
export function refundSucceeded(refund: Refund): Posting {
  return refundPosting('refund_succeeded', refund, 'succeeded', {
    refunds_due: refund.amountMinor,
    clearing: -refund.amountMinor,
  })
}

/** Posts a failed refund. A refund can fail after it succeeded, if the customer's bank returns the money. */
export function refundFailed(refund: Refund & { readonly hadSucceeded: boolean }): Posting {
  const { amountMinor, taxMinor = 0n, hadSucceeded } = refund
  return refundPosting('refund_failed', refund, 'failed', {
    [hadSucceeded ? 'clearing' : 'refunds_due']: amountMinor,
    refunds: -(amountMinor - taxMinor),
    tax: -taxMinor,
  })
}

function refundPosting(
  kind: MoneyKind,
  { refundRef, customerRef, currency, invoiceRef }: Refund,
  step: string,
  amounts: Amounts,
): Posting {
  return {
    kind,
    key: `refund:${refundRef}:${step}`,
    customerRef,
    ...(invoiceRef === undefined ? {} : { invoiceRef }),
    entries: entriesOf(currency, amounts),
  }
}

/** What a refund took from the processor's balance in another currency, or returned to it when the refund failed. */
export type SettledRefund = {
  readonly customerRef: string
  readonly refundRef: string
  readonly step: 'settled' | 'failure-settled'
  /** Negative for a refund that was paid out. */
  readonly charged: Money
  readonly settled: Money
  readonly feeMinor: bigint
  readonly restUnits?: bigint
}

export function refundSettled(refund: SettledRefund): Posting {
  const { customerRef, refundRef, step, charged, settled, feeMinor } = refund
  return {
    kind: 'refund_settled',
    key: `refund:${refundRef}:${step}`,
    customerRef,
    entries: settlementEntries(charged, settled, feeMinor),
    ...restOf(settled.currency, refund),
  }
}

/** `step` distinguishes the withdrawals and reinstatements of a dispute. It is the id of the balance transaction. */
type Dispute = CustomerAmount & {
  readonly disputeRef: string
  readonly step: string
  readonly restUnits?: bigint
}

/** Posts that the customer's bank withdrew the money and the processor charged its fee. */
export function disputeWithdrawn(dispute: Dispute & { readonly feeMinor: bigint }): Posting {
  const { customerRef, disputeRef, step, currency, amountMinor, feeMinor } = dispute
  return {
    kind: 'dispute_withdrawn',
    key: disputeKey(disputeRef, 'withdrawn', step),
    customerRef,
    entries: entriesOf(currency, {
      disputes: amountMinor,
      fees: feeMinor,
      clearing: -amountMinor - feeMinor,
    }),
    ...restOf(currency, dispute),
  }
}

/** Posts that the bank returned the money. Some processors return their fee as well. */
export function disputeReinstated(dispute: Dispute & { readonly feeMinor: bigint }): Posting {
  const { customerRef, disputeRef, step, currency, amountMinor, feeMinor } = dispute
  return {
    kind: 'dispute_reinstated',
    key: disputeKey(disputeRef, 'reinstated', step),
    customerRef,
    entries: entriesOf(currency, {
      clearing: amountMinor + feeMinor,
      disputes: -amountMinor,
      fees: -feeMinor,
    }),
    ...restOf(currency, dispute),
  }
}

export function disputeKey(
  disputeRef: string,
  moved: 'withdrawn' | 'reinstated',
  step: string,
): string {
  return `dispute:${disputeRef}:${moved}:${step}`
}

/**
 * `clearedMinor` is the ledger's amount that left the processor's balance or returned to it. It may differ from the payout by
 * accumulated fractions of a minor unit.
 */
type Payout = Money & {
  readonly payoutRef: string
  readonly clearedMinor: bigint
  readonly restUnits?: bigint
}

export function payoutPaid(payout: Payout): Posting {
  return payoutPosting('payout_paid', payout, 1n)
}

/** Posts a payout that failed, possibly days after it was paid. The money is back at the processor. */
export function payoutFailed(payout: Payout): Posting {
  return payoutPosting('payout_failed', payout, -1n)
}

function payoutPosting(
  kind: 'payout_paid' | 'payout_failed',
  { payoutRef, currency, amountMinor, clearedMinor, restUnits = 0n }: Payout,
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
    ...restOf(currency, { restUnits }),
  }
}

function restOf(
  currency: string,
  { restUnits: units = 0n }: { readonly restUnits?: bigint },
): Pick<Posting, 'rest'> {
  return units === 0n ? {} : { rest: { currency, units } }
}
