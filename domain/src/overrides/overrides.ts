import type { AgreedPrice } from '@tollgate/schemas/http/agreed-prices'
import type { ChargeOverride, OwnLimit, RemovedLimit } from '@tollgate/schemas/http/overrides'
import type { UsageLimit } from '@tollgate/schemas/http/usage-limits'

/** Terms that one customer has instead of those of a product's plans. */
export type Overrides = {
  readonly charges: readonly ChargeOverride[]
  /** Each replaces the limit of a plan that has its key, or removes it, or is added. */
  readonly usageLimits: readonly OwnLimit[]
  /** Prices of plans, of which the first one that is in force applies. Absent for none. */
  readonly prices?: readonly AgreedPrice[] | undefined
}

/** Overrides from an instant on, until the next version. */
export type OverridesVersion = Overrides & {
  /** ISO instant of a whole second, because periods begin at whole seconds. */
  readonly since: string
}

export const noOverrides: Overrides = { charges: [], usageLimits: [] }

export function isRemoved(limit: OwnLimit): limit is RemovedLimit {
  return limit.cap === null
}

/** Returns the limits without those that only remove one of a plan. */
export function limitsToSet(limits: readonly OwnLimit[]): UsageLimit[] {
  return limits.filter((limit) => !isRemoved(limit))
}

/** Returns the overrides that were in force at the instant. `versions` are oldest first. */
export function overridesAt(versions: readonly OverridesVersion[], instant: Date): Overrides {
  return versions.findLast(({ since }) => Date.parse(since) <= instant.getTime()) ?? noOverrides
}

/** Returns all overrides that were in force at some time in [start, end), oldest first. */
export function overridesWithin(
  versions: readonly OverridesVersion[],
  { start, end }: { readonly start: Date; readonly end: Date },
): Overrides[] {
  const isLater = ({ since }: OverridesVersion): boolean =>
    Date.parse(since) > start.getTime() && Date.parse(since) < end.getTime()
  return [overridesAt(versions, start), ...versions.filter(isLater)]
}

/** Returns the overrides that are in force now. */
export function currentOverrides(versions: readonly OverridesVersion[]): Overrides {
  return versions.at(-1) ?? noOverrides
}
