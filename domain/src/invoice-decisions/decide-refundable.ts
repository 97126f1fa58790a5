/** Amounts of a paid invoice. Minor units. */
export type RefundableInvoice = {
  /** Paid and not refunded. */
  readonly keptMinor: bigint
  /** Charged by the invoice, and credited neither by a note nor by a later bill that corrects its usage. */
  readonly creditableMinor: bigint
  /** On its way back to the card. */
  readonly pendingMinor: bigint
} & (
  | {
      readonly goesTo: 'card'
      /** What the processor can still refund of the payment. */
      readonly onCardMinor: bigint
    }
  | {
      readonly goesTo: 'balance'
      /** What the balance had paid of the invoice. */
      readonly fromBalanceMinor: bigint
    }
)

/**
 * Returns how much of the invoice can be returned now, which is not more than any of the amounts allows. What the balance had paid is
 * returned to the balance only.
 */
export function decideRefundable(invoice: RefundableInvoice): bigint {
  const { keptMinor, creditableMinor, pendingMinor } = invoice
  const paidMinor = keptMinor + (invoice.goesTo === 'balance' ? invoice.fromBalanceMinor : 0n)
  const restMinor = (paidMinor < creditableMinor ? paidMinor : creditableMinor) - pendingMinor
  if (invoice.goesTo === 'balance') return restMinor
  return restMinor < invoice.onCardMinor ? restMinor : invoice.onCardMinor
}

/**
 * Returns what the balance has paid of an invoice: the credit that it took over, less the part that it carried on. `carriedInMinor` is
 * the sum of its lines of that kind. Minor units.
 */
export function paidByBalance({
  carriedInMinor,
  carriedMinor,
}: {
  readonly carriedInMinor: bigint
  readonly carriedMinor: bigint
}): bigint {
  if (carriedInMinor >= 0n) return 0n
  return carriedMinor < 0n ? carriedMinor - carriedInMinor : -carriedInMinor
}
