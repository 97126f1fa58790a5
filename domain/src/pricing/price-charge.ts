import { microsOfDecimal, picosOfDecimal } from '../money/decimal.ts'
import { isChargeTerms, type ChargeTerms, type PricedTier } from './charge-terms.ts'
import {
  billableBefore,
  billableMicros,
  pricedUnits,
  tierAt,
  unitsByTier,
  wholePackages,
  type UnitsOfPeriod,
} from './price-usage.ts'
import type { UsageTerms } from './usage-terms.ts'

/*
 * Prices usage of a charge with whole numbers: units in 10^-6, prices in 10^-12 minor units or credits, and so amounts in 10^-18.
 * They are exact, because only whole packages are divided.
 */

/** Units with the same price. The price of usage is the sum over these. */
export type PricedPart = {
  /** 10^-6 units, or 10^-6 packages if units are sold in packages. */
  readonly micros: bigint
  /** Price of one unit or package. */
  readonly price: string
  /** Charged once for the tier; `0` for none. */
  readonly flatPrice: string
}

/** Returns the price of a period's usage, in 10^-18 of the unit of the prices. */
export function priceCharge(terms: ChargeTerms, units: UnitsOfPeriod): bigint {
  return pricedParts(terms, units).reduce(
    (sum, { micros, price, flatPrice }) =>
      sum + micros * picosOfDecimal(price) + picosOfDecimal(flatPrice) * microsPerOne,
    0n,
  )
}

const microsPerOne = 1_000_000n

/** Returns the same parts for plans with and without charges. Without charges, prices are credits. */
export function partsOfUsage(terms: UsageTerms | ChargeTerms, units: UnitsOfPeriod): PricedPart[] {
  if (isChargeTerms(terms)) return pricedParts(terms, units)
  return pricedUnits(terms, units).map(({ micros, creditsPerUnit }) => ({
    micros,
    price: creditsPerUnit,
    flatPrice: '0',
  }))
}

/** Returns how many units of a period have which price: one entry for each tier, or for each row of a matrix. */
export function pricedParts(terms: ChargeTerms, units: UnitsOfPeriod): PricedPart[] {
  const { rate, unitsPerPackage } = terms
  if (rate.kind === 'matrix') return rowParts(rate, units)
  const billable = billableMicros(terms, units)
  if (unitsPerPackage !== undefined) {
    const packages = wholePackages(billable, unitsPerPackage) / microsOfDecimal(unitsPerPackage)
    return rate.tiers.map(({ price }) => ({
      micros: packages * microsPerOne,
      price,
      flatPrice: '0',
    }))
  }
  const from = billableBefore(terms, units)
  const mode = rate.kind === 'priced_graduated' ? 'graduated' : 'volume'
  const byTier = unitsByTier(mode, rate.tiers, from, billable)
  return rate.tiers.map(({ price, flatPrice = '0' }, tier) => ({
    micros: byTier[tier]!,
    price,
    flatPrice: byTier[tier]! > 0n && !wasReached(mode, rate.tiers, tier, from) ? flatPrice : '0',
  }))
}

/** The units of a row never cost less than nothing, even if corrections exceed them. */
function rowParts(
  { rows, price }: Extract<ChargeTerms['rate'], { kind: 'matrix' }>,
  { usedMicros, rowMicros = [...rows.map(() => 0n), usedMicros] }: UnitsOfPeriod,
): PricedPart[] {
  return [...rows, { price }].map((row, at) => {
    const micros = rowMicros[at] ?? 0n
    return { micros: micros > 0n ? micros : 0n, price: row.price, flatPrice: '0' }
  })
}

/** Returns whether earlier purchases in the shared allowance used a unit of the tier, so that its flat price is not due again. */
function wasReached(
  mode: 'graduated' | 'volume',
  tiers: readonly PricedTier[],
  tier: number,
  from: bigint,
): boolean {
  if (from <= 0n) return false
  if (mode === 'volume') return tierAt(tiers, from) === tier
  const start = tier === 0 ? 0n : microsOfDecimal(tiers[tier - 1]!.upTo ?? '0')
  return from > start
}
