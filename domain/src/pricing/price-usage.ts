import { microsOfDecimal } from '../money/decimal.ts'
import type { Rate, UsageTerms } from './usage-terms.ts'

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
  const from = billableMicros(terms, unitsBefore(units))
  return rate.kind === 'graduated'
    ? unitsByTier(rate.tiers, from, micros)
    : unitsInLastTier(rate.tiers, from, micros)
}

/** Returns the units that are priced: those above the free and included units, up to the plan's limit. */
export function billableMicros(terms: UsageTerms, units: UnitsOfPeriod): bigint {
  const { usedMicros, usedBeforeMicros = 0n, carriedOverMicros = 0n } = units
  const upTo = (micros: bigint): bigint =>
    atLeastZero(
      countedUpTo(terms, micros, carriedOverMicros) - unpricedMicros(terms, carriedOverMicros),
    )
  return upTo(usedBeforeMicros + usedMicros) - upTo(usedBeforeMicros)
}

/** Returns the used units, up to the plan's limit. */
export function countedMicros(terms: UsageTerms, units: UnitsOfPeriod): bigint {
  const { usedMicros, usedBeforeMicros = 0n, carriedOverMicros = 0n } = units
  const upTo = (micros: bigint): bigint => countedUpTo(terms, micros, carriedOverMicros)
  return upTo(usedBeforeMicros + usedMicros) - upTo(usedBeforeMicros)
}

function unitsBefore({ usedBeforeMicros = 0n, carriedOverMicros }: UnitsOfPeriod): UnitsOfPeriod {
  return { usedMicros: usedBeforeMicros, carriedOverMicros }
}

function countedUpTo(terms: UsageTerms, micros: bigint, carriedOverMicros: bigint): bigint {
  const { overage } = terms
  if (overage === undefined) return capped(micros, limitMicros(terms, carriedOverMicros))
  if (overage.maxUnits === null) return micros
  const cap = unpricedMicros(terms, carriedOverMicros) + microsOfDecimal(overage.maxUnits)
  return capped(micros, cap)
}

/** Returns the first units of a period that are free or included in the base price. */
export function unpricedMicros(terms: UsageTerms, carriedOverMicros: bigint): bigint {
  const free = microsOfDecimal(terms.freeUnits)
  return terms.overage === undefined ? free : free + (limitMicros(terms, carriedOverMicros) ?? 0n)
}

function limitMicros({ limit }: UsageTerms, carriedOverMicros: bigint): bigint | null {
  return limit === null ? null : microsOfDecimal(limit) + carriedOverMicros
}

type Tiers = Extract<Rate, { tiers: unknown }>['tiers']

/** Splits the units after the first `from` units by tier. */
function unitsByTier(tiers: Tiers, from: bigint, micros: bigint): PricedUnits[] {
  const last = from + micros
  let at = from
  return tiers.map(({ upTo, creditsPerUnit }, index) => {
    const isLast = index === tiers.length - 1
    const end = isLast || upTo === null ? last : microsOfDecimal(upTo)
    const units = atLeastZero((end < last ? end : last) - at)
    at += units
    return { micros: units, creditsPerUnit }
  })
}

/** Assigns all units to the tier of the last unit. */
function unitsInLastTier(tiers: Tiers, from: bigint, micros: bigint): PricedUnits[] {
  const last = from + micros
  const found = tiers.findIndex(({ upTo }) => upTo === null || last <= microsOfDecimal(upTo))
  const at = found === -1 ? tiers.length - 1 : found
  return tiers.map(({ creditsPerUnit }, index) => ({
    micros: index === at ? micros : 0n,
    creditsPerUnit,
  }))
}

function wholePackages(micros: bigint, unitsPerPackage: string | undefined): bigint {
  if (unitsPerPackage === undefined) return micros
  const size = microsOfDecimal(unitsPerPackage)
  return ((micros + size - 1n) / size) * size
}

function capped(micros: bigint, cap: bigint | null): bigint {
  return cap !== null && micros > cap ? cap : micros
}

function atLeastZero(micros: bigint): bigint {
  return micros > 0n ? micros : 0n
}
