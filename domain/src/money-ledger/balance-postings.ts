import { entriesOf } from './entries-of.ts'
import type { CustomerAmount, Posting } from './postings.ts'

/*
 * These postings move amounts out of a customer's balance without an invoice. The customer's next invoices take over what is left in
 * it.
 */

type AmountFromBalance = CustomerAmount & {
  readonly refundRef: string
  readonly invoiceRef: string
  readonly step: 'taken' | 'returned'
}

/**
 * Posts the part of a refund that had been credited to the customer's balance before. It is taken from the balance, and returned to it
 * if the refund fails.
 */
export function refundFromBalance(refund: AmountFromBalance): Posting {
  const { refundRef, invoiceRef, customerRef, currency, step } = refund
  const takenMinor = step === 'taken' ? refund.amountMinor : -refund.amountMinor
  return {
    kind: 'refund_from_balance',
    key: `refund:${refundRef}:from-balance:${step}`,
    customerRef,
    invoiceRef,
    entries: entriesOf(currency, { carried: takenMinor, refunds: -takenMinor }),
  }
}

type DisputedFromBalance = CustomerAmount & {
  readonly disputeRef: string
  readonly invoiceRef: string
  /** Counts how often the bank has withdrawn the money. */
  readonly withdrawal: number
  readonly step: 'taken' | 'returned'
}

/**
 * Posts the part of disputed money that had been credited to the customer's balance before. It is taken from the balance when the
 * bank withdraws the money, and returned to it when the bank returns the money.
 */
export function disputeFromBalance(dispute: DisputedFromBalance): Posting {
  const { customerRef, invoiceRef, currency, step } = dispute
  const takenMinor = step === 'taken' ? dispute.amountMinor : -dispute.amountMinor
  return {
    kind: 'dispute_from_balance',
    key: disputeFromBalanceKey(dispute),
    customerRef,
    invoiceRef,
    entries: entriesOf(currency, { carried: takenMinor, disputes: -takenMinor }),
  }
}

export function disputeFromBalanceKey({
  disputeRef,
  withdrawal,
  step,
}: Pick<DisputedFromBalance, 'disputeRef' | 'withdrawal' | 'step'>): string {
  return `dispute:${disputeRef}:from-balance:${withdrawal}:${step}`
}

type GivenUpFromBalance = CustomerAmount & {
  readonly invoiceRef: string
  /** The part of the amount that is tax. */
  readonly taxMinor: bigint
  /** Counts the postings of the invoice. */
  readonly number: number
}

/**
 * Posts the part of a bill that a correction had credited to the customer's balance before the bill was voided or written off. It is
 * taken from the balance. The amount is negative if it returns there, because the bill is paid after all.
 */
export function givenUpFromBalance(given: GivenUpFromBalance): Posting {
  const { invoiceRef, customerRef, currency, amountMinor, taxMinor, number } = given
  return {
    kind: 'given_up_from_balance',
    key: `invoice:${invoiceRef}:given-up-from-balance:${number}`,
    customerRef,
    invoiceRef,
    entries: entriesOf(currency, {
      carried: amountMinor,
      revenue: -(amountMinor - taxMinor),
      tax: -taxMinor,
    }),
  }
}

type PaidOut = CustomerAmount & {
  /** The refund that pays it, or the payout if it is paid by other means. */
  readonly reference: string
  /** The invoice whose payment is refunded. */
  readonly invoiceRef?: string | undefined
  /** Account from which it is paid: the refund follows, or the provider pays by other means. */
  readonly from: 'refunds' | 'outside'
}

/** Posts an amount of the customer's balance that is paid out. */
export function balancePaidOut(paid: PaidOut): Posting {
  return payoutPosting(paid, 'paid', 1n)
}

/** Posts that the refund was refused or failed, so that the amount is in the balance again. */
export function balancePayoutReturned(paid: PaidOut): Posting {
  return payoutPosting(paid, 'returned', -1n)
}

function payoutPosting(
  { reference, invoiceRef, customerRef, currency, amountMinor, from }: PaidOut,
  step: 'paid' | 'returned',
  sign: 1n | -1n,
): Posting {
  return {
    kind: 'balance_paid_out',
    key: `balance-payout:${reference}:${step}`,
    customerRef,
    ...(invoiceRef === undefined ? {} : { invoiceRef }),
    entries: entriesOf(currency, { carried: sign * amountMinor, [from]: -sign * amountMinor }),
  }
}
