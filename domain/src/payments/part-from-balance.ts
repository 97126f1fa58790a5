import { atLeastZero, lesser } from '../money/amounts.ts'

/** Amounts of an invoice before one more refund of its payment. Minor units. */
export type RefundedInvoice = {
  /** Paid and not refunded. */
  readonly keptMinor: bigint
  /** Charged by the invoice, and credited neither by a note nor by a later bill that corrects its usage. */
  readonly creditableMinor: bigint
  /** Credited to the customer's balance by notes of the invoice and by such bills. */
  readonly toBalanceMinor: bigint
  /** The part of those credits that was taken from the balance again. */
  readonly takenMinor: bigint
}

/**
 * Returns the part of a refund that is taken from the customer's balance: what exceeds the rest of the invoice, as far as the invoice
 * had been credited to the balance.
 */
export function partFromBalance(
  amountMinor: bigint,
  { keptMinor, creditableMinor, toBalanceMinor, takenMinor }: RefundedInvoice,
): bigint {
  const restMinor = atLeastZero(lesser(keptMinor, creditableMinor))
  const overMinor = atLeastZero(amountMinor - restMinor)
  const leftMinor = atLeastZero(toBalanceMinor - takenMinor)
  return lesser(overMinor, leftMinor)
}
