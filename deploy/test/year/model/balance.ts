import { withTax, type ModelCurrency, type ModelTax } from './money.ts'

/** A first payment of a plan and the customer's credit, in minor units. */
export type BalanceUse = {
  readonly price: bigint
  readonly credit: bigint
  readonly currency: ModelCurrency
  /** The tax that is known when the payment is created, and when it is confirmed. */
  readonly taxBefore: ModelTax | undefined
  readonly tax: ModelTax | undefined
}

/**
 * Returns how much of the price the credit pays. A rest below the minimum is charged as the minimum. A tax that is stated later can
 * only lower the part.
 */
export function paidByCredit({ price, credit, currency, taxBefore, tax }: BalanceUse): bigint {
  if (credit <= 0n) return 0n
  const first = withTax(price, taxBefore)
  if (credit >= first) return first
  const part = partOf(first, credit, currency)
  return tax === taxBefore ? part : partOf(withTax(price, tax), part, currency)
}

function partOf(total: bigint, credit: bigint, { chargeMin }: ModelCurrency): bigint {
  const most = total - chargeMin
  const part = credit < most ? credit : most
  return part > 0n ? part : 0n
}
