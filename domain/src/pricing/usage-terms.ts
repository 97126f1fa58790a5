import { decimalFromMicros, microsFromNumber } from '@tollgate/schemas/quantity'
import { microsOfDecimal } from '../money/decimal.ts'
import { isPrePaid, type PlanCore } from '../plans/plan.ts'

/**
 * Which units of a period are priced. The terms are stored with the invoice line, so numbers are decimal text of at most 6
 * decimals: exact, and readable for people.
 */
export type UnitTerms = {
  /**
   * Units of one period. Without overage, further units are not priced. With overage, these units are included in the base price.
   * Null for no limit.
   */
  readonly limit: string | null
  /** Units of one period that cost nothing. */
  readonly freeUnits: string
  /**
   * Units above `limit` and `freeUnits` are priced, up to `maxUnits`; null for all of them. Absent if units above the limit are not
   * priced.
   */
  readonly overage?: { readonly maxUnits: string | null }
  /** Units in one package. A package that was begun is priced as a whole. Absent if units are priced singly. */
  readonly unitsPerPackage?: string
}

/** Everything that the price of a period's usage depends on, except the usage, for a plan without charges. */
export type UsageTerms = UnitTerms & { readonly rate: Rate }

/** Price of a unit in credits. Tiers are counted from the first priced unit. */
export type Rate =
  | { readonly kind: 'flat'; readonly creditsPerUnit: string }
  /** `graduated`: each unit has the price of its own tier. `volume`: all units have the price of the last unit's tier. */
  | { readonly kind: 'graduated' | 'volume'; readonly tiers: readonly Tier[] }

export type Tier = {
  /** The last unit of the tier, after which the next tier begins. The last tier has no end, and null means none. */
  readonly upTo: string | null
  readonly creditsPerUnit: string
}

/**
 * Returns how usage of a plan without charges is billed afterwards. Undefined if usage is not billed, or is paid from the wallet.
 * `billedCharges` includes plans with charges.
 */
export function usageTermsOf(plan: PlanCore): UsageTerms | undefined {
  if (plan.terms.charges !== undefined || !billsAfterwards(plan)) return undefined
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

/** Returns whether usage is paid by invoices after its period has ended. */
export function billsAfterwards(plan: PlanCore): boolean {
  return (plan.type === 'hybrid' || plan.type === 'usage-based') && !isPrePaid(plan)
}

/** Returns whether any usage has a price. */
export function costsSomething({ rate }: UsageTerms): boolean {
  const rates = rate.kind === 'flat' ? [rate] : rate.tiers
  return rates.some(({ creditsPerUnit }) => microsOfDecimal(creditsPerUnit) > 0n)
}

/** Tiers take precedence over the overage rate, and that takes precedence over the price of a unit. */
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

/** In plans, 0 and absent mean the same. */
function positive(units: number | undefined): string | null {
  return units === undefined || units <= 0 ? null : decimal(units)
}

/** Returns a number as decimal text. Throws RangeError for more than 6 decimals, which plans cannot have. */
function decimal(value: number): string {
  const micros = microsFromNumber(value)
  if (micros === undefined) throw new RangeError(`${value} has more than six decimals`)
  return decimalFromMicros(BigInt(micros))
}
