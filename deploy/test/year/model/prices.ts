/* What usage costs by sections 4.4 and 4.5 of the wire contract, in exact fractions of a cent. Units are whole. */

type ModelTier = { readonly from: number; readonly to?: number; readonly rate: number }

export type UsagePrices = {
  /** Units; none: no limit. */
  readonly limit?: number
  readonly freeUnits?: number
  readonly rate: number
  readonly tiers?: readonly ModelTier[]
  /** All units at the price of the tier that the last one lies in. */
  readonly byVolume?: true
  /** Sold in packages of so many units; one that was begun is paid whole. */
  readonly package?: number
  /** What a period leaves of its limit widens that of the next one. */
  readonly rollsOver?: true
  /** Units above limit and free units are sold, up to so many; none: all of them. */
  readonly overage?: { readonly rate: number; readonly most?: number }
}

/**
 * Credits: a hundredth of a cent each. `left` units were left over from the period before; `before` units were used by
 * other purchases of the allowance that is shared.
 */
export function creditsOf(prices: UsagePrices, used: number, left = 0, before = 0): bigint {
  const { tiers, byVolume, package: size = 1 } = prices
  const from = billableUnits(prices, before, left)
  const billable = billableUnits(prices, before + used, left) - from
  const units = Math.ceil(billable / size) * size
  if (tiers === undefined) return BigInt(units) * BigInt(rateOf(prices))
  if (byVolume) {
    const { rate } = tiers.find(({ to = Infinity }) => from + units <= to)!
    return BigInt(units) * BigInt(rate)
  }
  let credits = 0n
  for (const { from: begin, to = Infinity, rate } of tiers) {
    // The tiers number the billable units from 1; one that begins at 0 has its first unit there as well.
    const first = Math.max(begin, 1, from + 1)
    const inTier = Math.max(0, Math.min(from + units, to) - first + 1)
    credits += BigInt(inTier) * BigInt(rate)
  }
  return credits
}

/** What a period leaves to the next one: of its own limit alone. */
export function leftOver({ limit, rollsOver }: UsagePrices, used: number): number {
  return rollsOver && limit !== undefined ? Math.max(0, limit - used) : 0
}

function rateOf({ rate, overage }: UsagePrices): number {
  return overage?.rate ?? rate
}

function billableUnits(
  { limit, freeUnits = 0, overage }: UsagePrices,
  used: number,
  left: number,
): number {
  const most = limit === undefined ? undefined : limit + left
  if (overage === undefined) return Math.max(0, Math.min(used, most ?? Infinity) - freeUnits)
  const included = (most ?? 0) + freeUnits
  return Math.max(0, Math.min(used - included, overage.most ?? Infinity))
}
