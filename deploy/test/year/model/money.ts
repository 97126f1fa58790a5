/* Amounts in minor units of a currency, as in sections 1.4, 3.12 and 3.14 of the wire contract. */

/** The currency of a seller. */
export type ModelCurrency = {
  readonly code: string
  readonly minorPerMajor: bigint
  /** Amount of the currency for 1 dollar, as a fraction. */
  readonly perDollar: readonly [numerator: bigint, denominator: bigint]
  /** Smaller amounts than the first are not charged, and smaller amounts than the second cannot be. Minor units. */
  readonly chargeMin: bigint
  readonly processorMin: bigint
  /** Units of the processor per minor unit. */
  readonly processorUnits: bigint
  /** Whether prices include tax by default. */
  readonly isTaxContained: boolean
}

export const dollars: ModelCurrency = {
  code: 'USD',
  minorPerMajor: 100n,
  perDollar: [1n, 1n],
  chargeMin: 50n,
  processorMin: 50n,
  processorUnits: 1n,
  isTaxContained: false,
}

export const yen: ModelCurrency = {
  code: 'JPY',
  minorPerMajor: 1n,
  perDollar: [150n, 1n],
  chargeMin: 50n,
  processorMin: 50n,
  processorUnits: 1n,
  isTaxContained: true,
}

/** A currency with 3 decimals at the processor, of which Tollgate uses 2. */
export const dinars: ModelCurrency = {
  code: 'KWD',
  minorPerMajor: 100n,
  perDollar: [307n, 1_000n],
  chargeMin: 50n,
  processorMin: 5n,
  processorUnits: 10n,
  isTaxContained: true,
}

/** Tax that a customer pays after stating its country. */
export type ModelTax = {
  readonly ratePerMille: bigint
  readonly isContained: boolean
}

/** Rounds half away from zero. */
export function rounded(numerator: bigint, denominator: bigint): bigint {
  const magnitude = numerator < 0n ? -numerator : numerator
  const result = (2n * magnitude + denominator) / (2n * denominator)
  return numerator < 0n ? -result : result
}

/** Returns the price of credits, of which each is 1/100 cent. Rounded once. */
export function priceOfCredits(credits: bigint, { perDollar, minorPerMajor }: ModelCurrency) {
  return rounded(credits * perDollar[0] * minorPerMajor, 10_000n * perDollar[1])
}

/** Returns the amount in whole US cents. */
export function centsOf(amount: bigint, { perDollar, minorPerMajor }: ModelCurrency): bigint {
  return rounded(amount * 100n * perDollar[1], minorPerMajor * perDollar[0])
}

/** Returns the credits that an amount buys: 100 for each whole cent. */
export function creditsFor(amount: bigint, currency: ModelCurrency): number {
  return Number(centsOf(amount, currency)) * 100
}

/** Returns the tax included in or added to a price. Rounded once. */
export function taxOf(price: bigint, { ratePerMille, isContained }: ModelTax): bigint {
  return rounded(price * ratePerMille, isContained ? 1_000n + ratePerMille : 1_000n)
}

/** Returns a price including its tax. */
export function withTax(price: bigint, tax: ModelTax | undefined): bigint {
  return tax === undefined || tax.isContained ? price : price + taxOf(price, tax)
}
