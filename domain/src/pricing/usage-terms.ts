import { decimalFromMicros, microsFromNumber } from '@tollgate/schemas/quantity'
import { microsOfDecimal } from '../money/decimal.ts'
import { isPrePaid, type PlanCore } from '../plans/plan.ts'

/**
 * All that the price of a period's usage depends on, beside the usage. Kept with the invoice line as it stands here, so
 * numbers are decimal text of at most six decimals: nothing is lost on the way, and people can read it.
 */
export type UsageTerms = {
  /** Units of one period. Without overage no more than these are priced; with it they are part of the base price. Null: no limit. */
  readonly limit: string | null
  /** Units of one period that cost nothing. */
  readonly freeUnits: string
  /** Units above `limit` and `freeUnits` are priced, up to so many; null: all of them. Absent: units above are not priced. */
  readonly overage?: { readonly maxUnits: string | null }
  /** Units are sold in packages of so many; one that was begun is priced whole. Absent: each unit by itself. */
  readonly unitsPerPackage?: string
  readonly rate: Rate
}

/** What a unit costs, in credits. Tiers are counted from the first unit that is priced. */
export type Rate =
  | { readonly kind: 'flat'; readonly creditsPerUnit: string }
  /** `graduated`: each unit at its own tier's price. `volume`: all units at the price of the last one's tier. */
  | { readonly kind: 'graduated' | 'volume'; readonly tiers: readonly Tier[] }

export type Tier = {
  /** The last unit of the tier; the next tier begins behind it. Null, or the last of all: it has no end. */
  readonly upTo: string | null
  readonly creditsPerUnit: string
}

/** How a plan's usage is billed after the fact; undefined where it is not: nothing is counted, or the wallet has paid. */
export function usageTermsOf(plan: PlanCore): UsageTerms | undefined {
  const isMetered = plan.type === 'hybrid' || plan.type === 'usage-based'
  if (!isMetered || isPrePaid(plan)) return undefined
  const { limit, freeUnits, unitsPerPackage, overagePolicy } = plan.terms
  const hasOverage = plan.type === 'hybrid' && overagePolicy?.allowOverage === true
  return {
    limit: positive(limit),
    freeUnits: positive(freeUnits) ?? '0',
    ...(hasOverage ? { overage: { maxUnits: positive(overagePolicy.maxOverage) } } : {}),
    ...(unitsPerPackage === undefined ? {} : { unitsPerPackage: decimal(unitsPerPackage) }),
    rate: rateOf(plan, hasOverage),
  }
}

/** Whether any usage costs something. */
export function costsSomething({ rate }: UsageTerms): boolean {
  const rates = rate.kind === 'flat' ? [rate] : rate.tiers
  return rates.some(({ creditsPerUnit }) => microsOfDecimal(creditsPerUnit) > 0n)
}

/** Tiers go before the price of overage, and that before the price of a unit. */
function rateOf({ terms }: PlanCore, hasOverage: boolean): Rate {
  const { usageTiers = [], usageTierMode = 'graduated', overagePolicy, creditsPerUnit = 0 } = terms
  if (usageTiers.length === 0) {
    const overageRate = hasOverage ? overagePolicy?.overageRate : undefined
    return { kind: 'flat', creditsPerUnit: decimal(overageRate ?? creditsPerUnit) }
  }
  const ends = (tier: (typeof usageTiers)[number]): number => tier.maxUsage ?? Infinity
  const tiers = usageTiers
    .toSorted((one, other) => one.minUsage - other.minUsage || ends(one) - ends(other))
    .map(({ maxUsage, creditsPerUnit: credits }) => ({
      upTo: maxUsage === undefined || maxUsage === null ? null : decimal(maxUsage),
      creditsPerUnit: decimal(credits),
    }))
  return { kind: usageTierMode, tiers }
}

/** In plans nothing and absent are one. */
function positive(units: number | undefined): string | null {
  return units === undefined || units <= 0 ? null : decimal(units)
}

/** Throws for a number that plans cannot hold, one of more than six decimals. */
function decimal(value: number): string {
  const micros = microsFromNumber(value)
  if (micros === undefined) throw new RangeError(`${value} has more than six decimals`)
  return decimalFromMicros(BigInt(micros))
}
