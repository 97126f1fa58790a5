/** Amounts of a paid invoice. Minor units. */
export type RefundableInvoice = {
  /** Paid and not refunded. */
  readonly keptMinor: bigint
  /** Charged by the invoice and not credited by any note. */
  readonly creditableMinor: bigint
  /** On its way back to the card. */
  readonly pendingMinor: bigint
  /** What the processor can still refund of the payment. Absent for a refund to the balance. */
  readonly onCardMinor?: bigint | undefined
}

/** Returns how much of the invoice can be returned now, which is not more than any of the amounts allows. */
export function decideRefundable(invoice: RefundableInvoice): bigint {
  const { keptMinor, creditableMinor, pendingMinor, onCardMinor } = invoice
  const restMinor = (keptMinor < creditableMinor ? keptMinor : creditableMinor) - pendingMinor
  return onCardMinor === undefined || restMinor < onCardMinor ? restMinor : onCardMinor
}
