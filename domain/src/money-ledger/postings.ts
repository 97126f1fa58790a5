import type { MoneyAccount, MoneyEntry, MoneyKind } from './ledger.ts'

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
  /** The invoice that it is about. */
  readonly invoiceRef?: string
  readonly entries: readonly MoneyEntry[]
  /** What the processor moved beside them, finer than the ledger counts. */
  readonly rest?: FinerRest
}

/** `units` of the processor, less than a minor unit of the currency either way. */
export type FinerRest = { readonly currency: string; readonly units: bigint }

/** Minor units of a currency, upper case. */
export type Money = { readonly currency: string; readonly amountMinor: bigint }

export type OfCustomer = Money & { readonly customerRef: string }

/**
 * `chargedMinor`: its lines but for what earlier invoices left, which is `carriedInMinor`. Together they are its total.
 * `taxMinor` is the part of what is charged that is owed to a state.
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
  return ofInvoice('invoice_issued', 'issued', invoice, issueEntries(invoice, 1n))
}

/** As if it had never been issued; what it took over from earlier invoices waits for the next one again. */
export function invoiceVoided(invoice: IssuedInvoice): Posting {
  return ofInvoice('invoice_voided', 'voided', invoice, issueEntries(invoice, -1n))
}

/** What is charged is earned, but for credits: those are owed until they are used. */
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

function ofInvoice(
  kind: MoneyKind,
  step: string,
  { reference, customerRef }: { readonly reference: string; readonly customerRef: string },
  entries: readonly MoneyEntry[],
): Posting {
  const key = `invoice:${reference}:${step}`
  return { kind, key, customerRef, invoiceRef: reference, entries }
}

type OfInvoice = OfCustomer & { readonly invoiceRef: string }

/** Part of what is due moves on to the customer's next invoice; a credit is below nothing. Once for each invoice and `step`. */
export function invoiceCarried(carried: OfInvoice & { readonly step: string }): Posting {
  const { invoiceRef: reference, customerRef, currency, amountMinor, step } = carried
  const entries = entriesOf(currency, { carried: amountMinor, receivable: -amountMinor })
  return ofInvoice('invoice_carried', `carried:${step}`, { reference, customerRef }, entries)
}

export function invoiceWrittenOff({ invoiceRef, customerRef, ...due }: OfInvoice): Posting {
  const { currency, amountMinor } = due
  const entries = entriesOf(currency, { written_off: amountMinor, receivable: -amountMinor })
  const invoice = { reference: invoiceRef, customerRef }
  return ofInvoice('invoice_written_off', 'written-off', invoice, entries)
}

/** Where what is credited goes: off what is due, to the next invoice, or back to the customer as a refund. */
export type CreditNoteUse = 'invoice' | 'balance' | 'refund'

const accountOfCredit = {
  invoice: 'receivable',
  balance: 'carried',
  // The money has left through the account of refunds; this takes it out of there.
  refund: 'refunds',
} as const satisfies Record<CreditNoteUse, MoneyAccount>

/** `taxMinor` is the part of the amount that is not owed to a state any more. */
export type CreditNotePosting = OfInvoice & {
  readonly reference: string
  /** What the invoice sold. */
  readonly sold: SoldAs
  readonly settles: CreditNoteUse
  readonly taxMinor: bigint
}

export function creditNoteIssued(note: CreditNotePosting): Posting {
  return creditNotePosting(note, 'issued', 1n)
}

/** The refund that it was written for did not arrive. */
export function creditNoteVoided(note: CreditNotePosting): Posting {
  return creditNotePosting(note, 'voided', -1n)
}

/**
 * Of credits that are paid back only the tax is booked here: those that are left are taken out of the wallet, and what
 * they were worth goes to the account of refunds with them; used ones stay there.
 */
function creditNotePosting(
  note: CreditNotePosting,
  step: 'issued' | 'voided',
  sign: 1n | -1n,
): Posting {
  const { reference, invoiceRef, customerRef, currency, amountMinor, taxMinor, settles } = note
  const isTakenBack = note.sold === 'prepaid' && settles === 'refund'
  const netMinor = isTakenBack ? 0n : amountMinor - taxMinor
  return {
    kind: 'credit_note',
    key: step === 'issued' ? `credit-note:${reference}` : `credit-note:${reference}:voided`,
    customerRef,
    invoiceRef,
    entries: entriesOf(currency, {
      [note.sold]: sign * netMinor,
      tax: sign * taxMinor,
      [accountOfCredit[settles]]: -sign * (netMinor + taxMinor),
    }),
  }
}

/**
 * What a payment is for: an issued invoice, one that was written off already, or nothing that could be given: then it is
 * paid back.
 */
export type PaymentUse = 'receivable' | 'written_off' | 'refunds'

type SucceededPayment = OfCustomer & {
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

/** Whether a payment is posted is asked by this. */
export function paymentKey(chargeRef: string): string {
  return `payment:${chargeRef}:succeeded`
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
  /** Of `settled` without the fee. */
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
    ...exchange(charged, settled),
    ...entriesOf(settled.currency, { fees: feeMinor, clearing: -feeMinor }),
  ]
}

function exchange(from: Money, into: Money): MoneyEntry[] {
  if (from.currency === into.currency) return []
  return [
    ...entriesOf(from.currency, { fx: from.amountMinor, clearing: -from.amountMinor }),
    ...entriesOf(into.currency, { fx: -into.amountMinor, clearing: into.amountMinor }),
  ]
}

/**
 * `taxMinor` is the part of it that is not owed to a state any more; of an invoice a credit note says that, and only what
 * was sold before every payment had one has it here.
 */
type Refund = OfCustomer & {
  readonly refundRef: string
  readonly taxMinor?: bigint
  readonly invoiceRef?: string
}

/** On its way: owed to the customer, and still at the processor. */
export function refundPending(refund: Refund): Posting {
  const { amountMinor, taxMinor = 0n } = refund
  return refundPosting('refund_pending', refund, 'pending', {
    refunds: amountMinor - taxMinor,
    tax: taxMinor,
    refunds_due: -amountMinor,
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

/** What a refund took of the processor's balance, where that is of another currency; or gave back to it as it failed. */
export type SettledRefund = {
  readonly customerRef: string
  readonly refundRef: string
  readonly step: 'settled' | 'failure-settled'
  /** Below nothing for what was paid back. */
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

/** `step` tells one withdrawal or reinstatement of a dispute from the next: the balance transaction that made it. */
type Dispute = OfCustomer & {
  readonly disputeRef: string
  readonly step: string
  readonly restUnits?: bigint
}

/** The customer's bank takes the money, and the processor its fee for that. */
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

/** The fee is given back by some processors, and then is part of what comes. */
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
 * `clearedMinor` left the processor's balance by our count, or came back to it; it may differ from what was paid out by
 * parts of a minor unit that were added up.
 */
type Payout = Money & {
  readonly payoutRef: string
  readonly clearedMinor: bigint
  readonly restUnits?: bigint
}

export function payoutPaid(payout: Payout): Posting {
  return payoutPosting('payout_paid', payout, 1n)
}

/** Some fail days after they were paid: the money is at the processor again. */
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

type Amounts = { readonly [Account in MoneyAccount]?: bigint }

/** Of an account that nothing happens to there is no entry. */
export function entriesOf(currency: string, amounts: Amounts): MoneyEntry[] {
  return Object.entries(amounts)
    .filter(([, amountMinor]) => amountMinor !== 0n)
    .map(([account, amountMinor]) => ({
      account: account as MoneyAccount,
      currency,
      amountMinor,
    }))
}
