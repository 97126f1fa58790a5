import { withTax, type ModelCurrency, type ModelTax } from './money.ts'

/** A first payment of a plan and the customer's credit, in minor units. */
export type BalanceUse = {
  readonly price: bigint
  readonly credit: bigint
  readonly currency: ModelCurrency
  /** The tax that is known when the payment is created, and when it is confirmed. */
  readonly taxBefore: ModelTax | undefined
  readonly tax: ModelTax | undefined
  /** Whether the seller collects taxes. */
  readonly isTaxed: boolean
}

/**
 * Returns the part of the price that the credit pays. If a rest is charged, it is at least the minimum charge. A payment whose
 * customer must still state a country always charges a rest. A tax that becomes known later can only lower the part.
 */
export function paidByCredit(use: BalanceUse): bigint {
  const { price, credit, currency, taxBefore, tax, isTaxed } = use
  if (credit <= 0n) return 0n
  const first = withTax(price, taxBefore)
  const needsCountry = isTaxed && taxBefore === undefined
  if (credit >= first && !needsCountry) return first
  const part = partOf(first, credit, currency)
  return tax === taxBefore ? part : partOf(withTax(price, tax), part, currency)
}

function partOf(total: bigint, credit: bigint, { chargeMin }: ModelCurrency): bigint {
  const most = total - chargeMin
  const part = credit < most ? credit : most
  return part > 0n ? part : 0n
}
