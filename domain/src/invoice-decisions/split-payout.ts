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

/**
 * Decides how much of a credit is paid out, and by which payments. `payments` are what each of them can still return, in the order in
 * which they are used.
 */
export function splitPayout(
  goesTo: BalancePayout['goesTo'],
  creditMinor: bigint,
  payments: readonly PayoutPart[],
  wantedMinor: bigint | undefined,
): PayoutSplit {
  const onCardsMinor = payments.reduce((sum, { amountMinor }) => sum + amountMinor, 0n)
  const isLess = goesTo === 'card' && onCardsMinor < creditMinor
  const mostMinor = isLess ? onCardsMinor : creditMinor
  const amountMinor = wantedMinor ?? mostMinor
  if (amountMinor <= 0n || amountMinor > mostMinor) {
    return { kind: 'amount', leftMinor: mostMinor > 0n ? mostMinor : 0n }
  }
  const parts: PayoutPart[] = []
  let restMinor = goesTo === 'card' ? amountMinor : 0n
  for (const payment of payments) {
    const partMinor = payment.amountMinor < restMinor ? payment.amountMinor : restMinor
    if (partMinor === 0n) break
    parts.push({ ...payment, amountMinor: partMinor })
    restMinor -= partMinor
  }
  return { kind: 'split', amountMinor, parts }
}
