/* Amounts in minor units of a currency, as sections 1.4, 3.12 and 3.14 of the wire contract have them. */

/** What a seller is paid in. */
export type ModelCurrency = {
  readonly code: string
  readonly minorPerMajor: bigint
  /** What a dollar buys, as a fraction. */
  readonly perDollar: readonly [numerator: bigint, denominator: bigint]
  /** Nothing below is charged, and nothing below the other could be. Minor units. */
  readonly chargeMin: bigint
  readonly processorMin: bigint
  /** Of its own units, which the processor counts in one of ours. */
  readonly processorUnits: bigint
  /** Where nothing else is said, prices contain the tax. */
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

/** Three decimals at the processor, of which we count two. */
export const dinars: ModelCurrency = {
  code: 'KWD',
  minorPerMajor: 100n,
  perDollar: [307n, 1_000n],
  chargeMin: 50n,
  processorMin: 5n,
  processorUnits: 10n,
  isTaxContained: true,
}

/** What a customer pays of everything since it said where it is. */
export type ModelTax = {
  readonly ratePerMille: bigint
  readonly isContained: boolean
}

/** Half away from zero. */
export function rounded(numerator: bigint, denominator: bigint): bigint {
  const magnitude = numerator < 0n ? -numerator : numerator
  const result = (2n * magnitude + denominator) / (2n * denominator)
  return numerator < 0n ? -result : result
}

/** A credit is a hundredth of a cent. Rounded once. */
export function priceOfCredits(credits: bigint, { perDollar, minorPerMajor }: ModelCurrency) {
  return rounded(credits * perDollar[0] * minorPerMajor, 10_000n * perDollar[1])
}

/** Whole US cents. */
export function centsOf(amount: bigint, { perDollar, minorPerMajor }: ModelCurrency): bigint {
  return rounded(amount * 100n * perDollar[1], minorPerMajor * perDollar[0])
}

/** What an amount buys: a hundred for each whole cent. */
export function creditsFor(amount: bigint, currency: ModelCurrency): number {
  return Number(centsOf(amount, currency)) * 100
}

/** In or on a price. Rounded once. */
export function taxOf(price: bigint, { ratePerMille, isContained }: ModelTax): bigint {
  return rounded(price * ratePerMille, isContained ? 1_000n + ratePerMille : 1_000n)
}

/** What a price comes to. */
export function withTax(price: bigint, tax: ModelTax | undefined): bigint {
  return tax === undefined || tax.isContained ? price : price + taxOf(price, tax)
}
