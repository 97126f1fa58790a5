import { microsOfDecimal } from '../money/decimal.ts'
import type { Rate, UsageTerms } from './usage-terms.ts'

/* Usage in, credits out, in whole numbers: units are 10^-6 of one, rates 10^-6 credits, and so prices 10^-12 credits. */

/** 10^-12 credits: exact, as nothing is divided. */
export type PicoCredits = bigint

/** What a period's usage costs. `carriedOverMicros`: units left over from the period before, which widen the limit. */
export function priceUsage(
  terms: UsageTerms,
  usedMicros: bigint,
  carriedOverMicros = 0n,
): PicoCredits {
  return priceUnits(terms, billableMicros(terms, usedMicros, carriedOverMicros))
}

/** Units that are priced: above what is free or included, and no more than the plan allows. */
export function billableMicros(
  terms: UsageTerms,
  usedMicros: bigint,
  carriedOverMicros = 0n,
): bigint {
  const free = microsOfDecimal(terms.freeUnits)
  const limit = terms.limit === null ? null : microsOfDecimal(terms.limit) + carriedOverMicros
  if (terms.overage === undefined) return atLeastNone(capped(usedMicros, limit) - free)
  const included = (limit ?? 0n) + free
  const { maxUnits } = terms.overage
  const cap = maxUnits === null ? null : included + microsOfDecimal(maxUnits)
  return atLeastNone(capped(usedMicros, cap) - included)
}

function priceUnits(terms: UsageTerms, unitMicros: bigint): PicoCredits {
  const micros = wholePackages(unitMicros, terms.unitsPerPackage)
  switch (terms.rate.kind) {
    case 'flat':
      return micros * microsOfDecimal(terms.rate.creditsPerUnit)
    case 'graduated':
      return priceByTier(terms.rate.tiers, micros)
    case 'volume':
      return micros * rateAt(terms.rate.tiers, micros)
  }
}

type Tiers = Extract<Rate, { tiers: unknown }>['tiers']

function priceByTier(tiers: Tiers, micros: bigint): PicoCredits {
  let price = 0n
  let from = 0n
  for (const [index, tier] of tiers.entries()) {
    const isLast = index === tiers.length - 1
    const end = isLast || tier.upTo === null ? micros : microsOfDecimal(tier.upTo)
    const upTo = end < micros ? end : micros
    if (upTo <= from) continue
    price += (upTo - from) * microsOfDecimal(tier.creditsPerUnit)
    from = upTo
  }
  return price
}

/** The price of the tier that the last unit lies in. */
function rateAt(tiers: Tiers, micros: bigint): bigint {
  const tier = tiers.find(({ upTo }) => upTo === null || micros <= microsOfDecimal(upTo))
  const { creditsPerUnit } = tier ?? tiers.at(-1)!
  return microsOfDecimal(creditsPerUnit)
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
