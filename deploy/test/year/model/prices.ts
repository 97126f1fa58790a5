/* What usage costs by sections 4.4 and 4.5 of the wire contract, in exact fractions of a cent. Units are whole. */

type ModelTier = { readonly from: number; readonly to?: number; readonly rate: number }

export type UsagePrices = {
  /** Units; none: no limit. */
  readonly limit?: number
  readonly freeUnits?: number
  readonly rate: number
  readonly tiers?: readonly ModelTier[]
  /** Units above limit and free units are sold, up to so many; none: all of them. */
  readonly overage?: { readonly rate: number; readonly most?: number }
}

/** Credits: a hundredth of a cent each. */
export function creditsOf(prices: UsagePrices, used: number): bigint {
  const billable = billableUnits(prices, used)
  if (prices.tiers === undefined) return BigInt(billable) * BigInt(rateOf(prices))
  let credits = 0n
  for (const { from, to = Infinity, rate } of prices.tiers) {
    // The tiers number the billable units from 1; one that begins at 0 has its first unit there as well.
    const first = Math.max(from, 1)
    const units = Math.max(0, Math.min(billable, to) - first + 1)
    credits += BigInt(units) * BigInt(rate)
  }
  return credits
}

function rateOf({ rate, overage }: UsagePrices): number {
  return overage?.rate ?? rate
}

function billableUnits({ limit, freeUnits = 0, overage }: UsagePrices, used: number): number {
  if (overage === undefined) {
    return Math.max(0, Math.min(used, limit ?? Infinity) - freeUnits)
  }
  const included = (limit ?? 0) + freeUnits
  return Math.max(0, Math.min(used - included, overage.most ?? Infinity))
}

/** To whole cents, half away from zero. */
export function roundedCents(credits: bigint): bigint {
  const magnitude = credits < 0n ? -credits : credits
  const cents = (magnitude + 50n) / 100n
  return credits < 0n ? -cents : cents
}
