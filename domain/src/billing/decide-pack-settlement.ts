import { usagePeriodAt, type Period } from '../periods/periods.ts'
import type { ChargedPeriod } from '../pricing/invoice-line.ts'
import { cycleOf } from '../purchases/access.ts'
import type { Purchase } from '../purchases/purchase.ts'
import { openPacks } from '../packs/pack-balance.ts'
import type { PackClaim } from '../packs/claims-repository.ts'
import type { PackAccount } from '../packs/repository.ts'

/** Units of packs that are settled together. */
export type Settlement = {
  /** Usage until then is settled: the end of a period or of a pack, or the time of a refund. */
  readonly at: Date
  /** The purchase with access at that time, and its period until then. Undefined if no usage can use packs. */
  readonly used: UsedSpan | undefined
}

export type UsedSpan = { readonly purchase: Purchase; readonly period: ChargedPeriod }

export type SettlementDecision =
  | { readonly kind: 'settle'; readonly settlement: Settlement }
  /** Nothing is due before `dueAt`; null for nothing at all. */
  | { readonly kind: 'wait'; readonly dueAt: Date | null }

/**
 * Decides what is settled next, in the order of time: a period ends with usage above the plan's units, a pack ends with units that
 * are forfeited, a refund takes units back. Settling one after the other gives each unit to the usage that came first. `purchases`
 * are the customer's purchases of plans of the product.
 */
export function decideSettlement(
  account: PackAccount,
  claims: readonly PackClaim[],
  purchases: readonly Purchase[],
  now: Date,
): SettlementDecision {
  const { settledTo } = account
  const open = openPacks(account)
  if (open.length === 0 && claims.length === 0) return { kind: 'wait', dueAt: null }
  const times = [
    ...claims.map(({ claimedAt }) => (claimedAt > settledTo ? claimedAt : settledTo)),
    ...open.flatMap(({ endsAt }) => (endsAt === null ? [] : [endsAt])),
    ...purchases.flatMap((purchase) => nextPeriodEnd(purchase, settledTo) ?? []),
  ]
  const [at] = times.sort((one, other) => one.getTime() - other.getTime())
  if (at === undefined) return { kind: 'wait', dueAt: null }
  if (at > now) return { kind: 'wait', dueAt: at }
  const used = at > settledTo ? findUsedSpan(purchases, at) : undefined
  return { kind: 'settle', settlement: { at, used } }
}

/**
 * Returns from when usage is settled again if claimed units come back now. While no pack had units, nothing was settled, and periods
 * were billed in full. Units that come back pay for the usage of the running period, until their end if that has passed, as if
 * nothing had been claimed. Undefined if other units are left, so that settlements went on.
 */
export function settledToOfReturn(
  account: PackAccount,
  purchases: readonly Purchase[],
  now: Date,
): Date | undefined {
  if (openPacks(account).length > 0) return undefined
  const start = findUsedSpan(purchases, now)?.period.start ?? now
  return start > account.settledTo ? start : account.settledTo
}

/** Returns the first end of a period of the purchase after the instant. Undefined if there is none. */
function nextPeriodEnd(purchase: Purchase, after: Date): Date | undefined {
  const endsAt = endOf(purchase)
  if (purchase.status === 'pending' || (endsAt !== null && endsAt <= after)) return undefined
  const end = periodAt(purchase, after > purchase.startDate ? after : purchase.startDate)?.end
  if (end === undefined) return endsAt ?? undefined
  return endsAt !== null && endsAt < end ? endsAt : end
}

/**
 * Returns the purchase that had access just before the instant. If one purchase replaced another within a second, both have that
 * second, and it belongs to the earlier one.
 */
function findUsedSpan(purchases: readonly Purchase[], at: Date): UsedSpan | undefined {
  const purchase = purchases
    .filter((each) => each.status !== 'pending' && each.startDate < at)
    .sort((one, other) => one.startDate.getTime() - other.startDate.getTime())
    .find((each) => (endOf(each) ?? at) >= at)
  if (purchase === undefined) return undefined
  const period = periodAt(purchase, new Date(at.getTime() - 1))
  // A trial is not billed, and packs are not used in it.
  if (period !== undefined && period.index < 0) return undefined
  return { purchase, period: { start: period?.start ?? purchase.anchor, end: at } }
}

function endOf({ endedAt, endDate }: Purchase): Date | null {
  return endedAt ?? endDate
}

/** Returns the period of a purchase with a cycle. */
function periodAt(purchase: Purchase, instant: Date): Period | undefined {
  const cycle = cycleOf(purchase)
  return cycle === undefined ? undefined : usagePeriodAt(cycle, purchase.startDate, instant)
}
