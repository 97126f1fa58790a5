/* Cost of usage by sections 4.4 and 4.5 of the wire contract, in exact fractions of a cent. Units are whole numbers. */

type ModelTier = { readonly from: number; readonly to?: number; readonly rate: number }

export type UsagePrices = {
  /** Limit in units. Absent: no limit. */
  readonly limit?: number
  readonly freeUnits?: number
  readonly rate: number
  readonly tiers?: readonly ModelTier[]
  /** Whether all units cost the price of the tier of the last unit. */
  readonly byVolume?: true
  /** Units per package. A started package is paid in full. */
  readonly package?: number
  /** Whether the units left of the limit are added to the limit of the next period. */
  readonly rollsOver?: true
  /** Units above the limit and the free units are sold, at most `most`. Absent: all of them. */
  readonly overage?: { readonly rate: number; readonly most?: number }
}

/**
 * Returns the cost in credits of 1/100 cent. `left` units were carried over from the previous period. `before` units were used by
 * other purchases that share the allowance.
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
    // Tiers number the billable units from 1. The first unit of a tier that begins at 0 is also number 1.
    const first = Math.max(begin, 1, from + 1)
    const inTier = Math.max(0, Math.min(from + units, to) - first + 1)
    credits += BigInt(inTier) * BigInt(rate)
  }
  return credits
}

/** Returns the units carried to the next period. Only the period's own limit counts. */
export function unusedUnits({ limit, rollsOver }: UsagePrices, used: number): number {
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
