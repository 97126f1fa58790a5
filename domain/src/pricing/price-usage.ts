import { microsOfDecimal } from '../money/decimal.ts'
import type { Rate, UsageTerms } from './usage-terms.ts'

/* Usage in, credits out, in whole numbers: units are 10^-6 of one, rates 10^-6 credits, and so prices 10^-12 credits. */

/** 10^-12 credits: exact, as nothing is divided. */
export type PicoCredits = bigint

/** Units that cost the same each; the price of usage is the sum of such. */
export type PricedUnits = {
  /** 10^-6 units, whole packages where there are packages. */
  readonly micros: bigint
  readonly creditsPerUnit: string
}

/** What a period's usage costs. `carriedOverMicros`: units left over from the period before, which widen the limit. */
export function priceUsage(
  terms: UsageTerms,
  usedMicros: bigint,
  carriedOverMicros = 0n,
): PicoCredits {
  return pricedUnits(terms, usedMicros, carriedOverMicros).reduce(
    (sum, { micros, creditsPerUnit }) => sum + micros * microsOfDecimal(creditsPerUnit),
    0n,
  )
}

/** What of a period's usage is priced at which rate: one entry for each tier, or one where all units cost the same. */
export function pricedUnits(
  terms: UsageTerms,
  usedMicros: bigint,
  carriedOverMicros = 0n,
): PricedUnits[] {
  const billable = billableMicros(terms, usedMicros, carriedOverMicros)
  const micros = wholePackages(billable, terms.unitsPerPackage)
  const { rate } = terms
  switch (rate.kind) {
    case 'flat':
      return [{ micros, creditsPerUnit: rate.creditsPerUnit }]
    case 'graduated':
      return unitsByTier(rate.tiers, micros)
    case 'volume':
      return unitsInLastTier(rate.tiers, micros)
  }
}

/** Units that are priced: above what is free or included, and no more than the plan allows. */
export function billableMicros(
  terms: UsageTerms,
  usedMicros: bigint,
  carriedOverMicros = 0n,
): bigint {
  const counted = countedMicros(terms, usedMicros, carriedOverMicros)
  return atLeastNone(counted - unpricedMicros(terms, carriedOverMicros))
}

/** No more than the plan allows of what was used. */
export function countedMicros(
  terms: UsageTerms,
  usedMicros: bigint,
  carriedOverMicros = 0n,
): bigint {
  const { overage } = terms
  if (overage === undefined) return capped(usedMicros, limitMicros(terms, carriedOverMicros))
  if (overage.maxUnits === null) return usedMicros
  const cap = unpricedMicros(terms, carriedOverMicros) + microsOfDecimal(overage.maxUnits)
  return capped(usedMicros, cap)
}

/** The first units of a period, which are free or in the base price. */
function unpricedMicros(terms: UsageTerms, carriedOverMicros: bigint): bigint {
  const free = microsOfDecimal(terms.freeUnits)
  return terms.overage === undefined ? free : free + (limitMicros(terms, carriedOverMicros) ?? 0n)
}

function limitMicros({ limit }: UsageTerms, carriedOverMicros: bigint): bigint | null {
  return limit === null ? null : microsOfDecimal(limit) + carriedOverMicros
}

type Tiers = Extract<Rate, { tiers: unknown }>['tiers']

function unitsByTier(tiers: Tiers, micros: bigint): PricedUnits[] {
  let from = 0n
  return tiers.map(({ upTo, creditsPerUnit }, index) => {
    const isLast = index === tiers.length - 1
    const end = isLast || upTo === null ? micros : microsOfDecimal(upTo)
    const units = atLeastNone((end < micros ? end : micros) - from)
    from += units
    return { micros: units, creditsPerUnit }
  })
}

/** All of them in the tier that the last one lies in. */
function unitsInLastTier(tiers: Tiers, micros: bigint): PricedUnits[] {
  const found = tiers.findIndex(({ upTo }) => upTo === null || micros <= microsOfDecimal(upTo))
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

function atLeastNone(micros: bigint): bigint {
  return micros > 0n ? micros : 0n
}
