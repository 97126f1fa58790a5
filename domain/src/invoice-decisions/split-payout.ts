import { chargeableMinor } from '../money/processor-amounts.ts'
import type { BalancePayout } from './payouts-repository.ts'

/** A part of the balance that a refund of one payment pays out. Minor units. */
export type PayoutPart = {
  readonly intentRef: string
  /** The invoice that the payment paid. */
  readonly invoiceRef: string
  readonly amountMinor: bigint
}

export type PayoutSplit =
  | { readonly kind: 'split'; readonly amountMinor: bigint; readonly parts: readonly PayoutPart[] }
  | { readonly kind: 'amount'; readonly leftMinor: bigint }

export type PayoutToSplit = {
  /** The credit in minor units of `currency`. */
  readonly creditMinor: bigint
  readonly currency: string
  readonly goesTo: BalancePayout['goesTo']
  /** What each payment can still return, in the order in which they are used. */
  readonly payments: readonly PayoutPart[]
  /** Undefined for all that can be paid out. */
  readonly wantedMinor: bigint | undefined
}

/**
 * Decides how much of a credit is paid out, and by which payments. Refunds are multiples of the processor's smallest step, and what is
 * less than a step stays in the balance.
 */
export function splitPayout(payout: PayoutToSplit): PayoutSplit {
  const { currency, goesTo, creditMinor, wantedMinor } = payout
  const payable = (minor: bigint): bigint =>
    goesTo === 'card' ? chargeableMinor(minor, currency) : minor
  const payments = payout.payments.map((payment) => ({
    ...payment,
    amountMinor: payable(payment.amountMinor),
  }))
  const onCardsMinor = payments.reduce((sum, { amountMinor }) => sum + amountMinor, 0n)
  const wholeMinor = creditMinor > 0n ? payable(creditMinor) : 0n
  const isLess = goesTo === 'card' && onCardsMinor < wholeMinor
  const mostMinor = isLess ? onCardsMinor : wholeMinor
  const amountMinor = payable(wantedMinor ?? mostMinor)
  const isTooMuch = amountMinor > mostMinor || (wantedMinor ?? 0n) > creditMinor
  if (amountMinor <= 0n || isTooMuch) return { kind: 'amount', leftMinor: mostMinor }
  const parts: PayoutPart[] = []
  let restMinor = goesTo === 'card' ? amountMinor : 0n
  for (const payment of payments) {
    const partMinor = payment.amountMinor < restMinor ? payment.amountMinor : restMinor
    // A payment of which less than one step is left is passed over, and those after it are used.
    if (partMinor === 0n) continue
    parts.push({ ...payment, amountMinor: partMinor })
    restMinor -= partMinor
  }
  return { kind: 'split', amountMinor, parts }
}
