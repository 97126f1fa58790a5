import { atLeastZero } from '../money/amounts.ts'
import { microsOfDecimal } from '../money/decimal.ts'
import type { Rate, UnitTerms, UsageTerms } from './usage-terms.ts'

/* Prices usage in credits with whole numbers: units in 10^-6, rates in 10^-6 credits, and so prices in 10^-12 credits. */

/** 10^-12 credits. They are exact, because nothing is divided. */
export type PicoCredits = bigint

/** Units with the same rate. The price of usage is the sum over these. */
export type PricedUnits = {
  /** 10^-6 units. If the plan has packages, these are whole packages. */
  readonly micros: bigint
  readonly creditsPerUnit: string
}

/** Usage of a period, in 10^-6 units. */
export type UnitsOfPeriod = {
  readonly usedMicros: bigint
  /** Units carried over from the period before, which increase the limit. */
  readonly carriedOverMicros?: bigint | undefined
  /**
   * Units of the shared allowance that earlier purchases used. They are not priced, but they count towards the free and included
   * units, the limit and the tiers.
   */
  readonly usedBeforeMicros?: bigint | undefined
  /**
   * The part of `usedMicros` that packs paid for. It is not priced, and takes up no free or included unit and no tier. It can be more than
   * `usedMicros` after a correction, because units of packs stay used. Then nothing is priced, and no unit of an earlier purchase is credited.
   */
  readonly packMicros?: bigint | undefined
  /** `usedMicros` by row of a matrix: one number for each row, and the last one for all other records. */
  readonly rowMicros?: readonly bigint[] | undefined
}

/** Returns the price of a period's usage. */
export function priceUsage(terms: UsageTerms, units: UnitsOfPeriod): PicoCredits {
  return pricedUnits(terms, units).reduce(
    (sum, { micros, creditsPerUnit }) => sum + micros * microsOfDecimal(creditsPerUnit),
    0n,
  )
}

/** Returns how many units of a period are priced at which rate: one entry for each tier, or a single entry for a flat rate. */
export function pricedUnits(terms: UsageTerms, units: UnitsOfPeriod): PricedUnits[] {
  const micros = wholePackages(billableMicros(terms, units), terms.unitsPerPackage)
  const { rate } = terms
  if (rate.kind === 'flat') return [{ micros, creditsPerUnit: rate.creditsPerUnit }]
  const byTier = unitsByTier(rate.kind, rate.tiers, billableBefore(terms, units), micros)
  return rate.tiers.map(({ creditsPerUnit }, at) => ({ micros: byTier[at]!, creditsPerUnit }))
}

/** Returns the priced units of earlier purchases in the shared allowance. The tiers of a period begin with them. */
export function billableBefore(terms: UnitTerms, units: UnitsOfPeriod): bigint {
  const { usedBeforeMicros = 0n, carriedOverMicros } = units
  return billableMicros(terms, { usedMicros: usedBeforeMicros, carriedOverMicros })
}

/** Returns the units that are priced: those above the free and included units, up to the plan's limit. */
export function billableMicros(terms: UnitTerms, units: UnitsOfPeriod): bigint {
  const { usedMicros, usedBeforeMicros = 0n, carriedOverMicros = 0n, packMicros = 0n } = units
  const upTo = (micros: bigint): bigint =>
    atLeastZero(
      countedUpTo(terms, micros, carriedOverMicros) - unpricedMicros(terms, carriedOverMicros),
    )
  return upTo(usedBeforeMicros + atLeastZero(usedMicros - packMicros)) - upTo(usedBeforeMicros)
}

/** Returns the used units, up to the plan's limit. */
export function countedMicros(terms: UnitTerms, units: UnitsOfPeriod): bigint {
  const { usedMicros, usedBeforeMicros = 0n, carriedOverMicros = 0n, packMicros = 0n } = units
  const upTo = (micros: bigint): bigint => countedUpTo(terms, micros, carriedOverMicros)
  return upTo(usedBeforeMicros + atLeastZero(usedMicros - packMicros)) - upTo(usedBeforeMicros)
}

function countedUpTo(terms: UnitTerms, micros: bigint, carriedOverMicros: bigint): bigint {
  const { overage } = terms
  if (overage === undefined) return capped(micros, limitMicros(terms, carriedOverMicros))
  if (overage.maxUnits === null) return micros
  const cap = unpricedMicros(terms, carriedOverMicros) + microsOfDecimal(overage.maxUnits)
  return capped(micros, cap)
}

/** Returns the first units of a period that are free or included in the base price. */
export function unpricedMicros(terms: UnitTerms, carriedOverMicros: bigint): bigint {
  const free = microsOfDecimal(terms.freeUnits)
  return terms.overage === undefined ? free : free + (limitMicros(terms, carriedOverMicros) ?? 0n)
}

function limitMicros({ limit }: UnitTerms, carriedOverMicros: bigint): bigint | null {
  return limit === null ? null : microsOfDecimal(limit) + carriedOverMicros
}

type Tiers = readonly Pick<Extract<Rate, { tiers: unknown }>['tiers'][number], 'upTo'>[]

/**
 * Returns the units of each tier, after the first `from` priced units of the period. `graduated`: each unit is in its own tier.
 * `volume`: all units are in the tier of the last one.
 */
export function unitsByTier(
  mode: 'graduated' | 'volume',
  tiers: Tiers,
  from: bigint,
  micros: bigint,
): bigint[] {
  const last = from + micros
  if (mode === 'volume') {
    const reached = tierAt(tiers, last)
    return tiers.map((_, index) => (index === reached ? micros : 0n))
  }
  let at = from
  return tiers.map(({ upTo }, index) => {
    const isLast = index === tiers.length - 1
    const end = isLast || upTo === null ? last : microsOfDecimal(upTo)
    const units = atLeastZero((end < last ? end : last) - at)
    at += units
    return units
  })
}

/** Returns the index of the tier that contains the last of the units. */
export function tierAt(tiers: Tiers, micros: bigint): number {
  const found = tiers.findIndex(({ upTo }) => upTo === null || micros <= microsOfDecimal(upTo))
  return found === -1 ? tiers.length - 1 : found
}

export function wholePackages(micros: bigint, unitsPerPackage: string | undefined): bigint {
  if (unitsPerPackage === undefined) return micros
  const size = microsOfDecimal(unitsPerPackage)
  return ((micros + size - 1n) / size) * size
}

function capped(micros: bigint, cap: bigint | null): bigint {
  return cap !== null && micros > cap ? cap : micros
}
