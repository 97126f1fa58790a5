import { isDeepStrictEqual } from 'node:util'
import {
  windowId,
  type Entitlement,
  type PeriodLimits,
  type RollOver,
} from '@tollgate/schemas/hot-state/documents'
import {
  type Cycle,
  type CycleMode,
  type Period,
  unixSeconds,
  usagePeriodAt,
  usagePeriodOf,
} from '../periods/periods.ts'
import { openPacks } from '../packs/pack-balance.ts'
import type { PackAccount } from '../packs/repository.ts'
import { planOfPeriod, type ProratedPurchase } from '../plans/included-units.ts'
import { effectiveCap } from '../plans/plan-cap.ts'
import { isCreditBased } from '../plans/plan.ts'
import { unbilledCap } from '../catalog/unbilled-limit.ts'
import {
  rollsUnitsOver,
  rollOverSpan,
  rollOverLimitMicros,
  type RollOverPurchase,
} from '../pricing/roll-over.ts'
import {
  planInPeriod,
  planOfNextPeriod,
  type OverriddenPurchase,
} from '../overrides/overridden-plan.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { entitledCharges } from './entitled-charges.ts'
import { entitledPacks } from './entitled-packs.ts'
import { entitledLimits } from './entitled-limits.ts'
import type { SharedAllowance } from './shared-allowance.ts'
import { splitLimits } from './first-period.ts'

/** The fields of a purchase that decide about access and counting. */
export type EntitledPurchase = RollOverPurchase &
  ProratedPurchase &
  OverriddenPurchase & {
    readonly reference: string
    /** The customer's own reference. */
    readonly customerRef: string
    readonly cycleMode: CycleMode
    /** Earlier than the anchor if the purchase began with a trial. */
    readonly startDate: Date
    readonly endDate: Date | null
    /** Start of the period whose carried units are settled, and the units in 10^-6. Null if no period is settled. */
    readonly carriedInto: Date | null
    readonly carriedOverMicros: bigint | null
    /** Allowance that the first period shares with the previous purchase. Null if it shares none. */
    readonly allowance: SharedAllowance | null
    /** The limit of unbilled usage in a period that was billed in part. Absent if there is none. */
    readonly raisedUnbilled?: { readonly periodStart: Date; readonly micros: bigint } | undefined
  }

export type EntitlementContext = {
  readonly now: Date
  /** Every reference under which the customer's usage may be recorded, including the customer's own. */
  readonly customerRefs: readonly string[]
  /** The customer's packs of the product. Absent if there are none. */
  readonly packs?: PackAccount | undefined
}

/**
 * Number of periods that are published beyond the current one, so that the end of a period needs no new publication: 3
 * months of weekly periods, 1 year of monthly periods. The previous period is published as well, because late events
 * belong to it.
 */
export const periodsAhead = 12
const periodsBehind = 1

/** End of a purchase without an end date: the year 9999, the last year that an ISO date can express. */
export const farFuture = new Date('9999-12-31T23:59:59Z')

/** Returns the document from which the data plane answers limit checks of this purchase without any other data. */
export function compileEntitlement(
  purchase: EntitledPurchase,
  plan: PlanSnapshot,
  context: EntitlementContext,
): Entitlement {
  const { start } = purchasePeriodAt(purchase, plan, context.now)
  const current = planInPeriod(plan, purchase, start)
  const next = planOfNextPeriod(plan, purchase)
  const charged = chargesOf(current, next, purchase)
  const limits = entitledLimits(next, current.terms.charges)
  const periods = countedPeriods(purchase, plan, context)
  const packs = context.packs && entitledPacks(purchase, current, context.packs, periods)
  const paysWallet =
    isCreditBased(plan) || charged.charges?.some(({ debit }) => debit !== undefined)
  return {
    customerRef: purchase.customerRef,
    purchaseRef: purchase.reference,
    planRef: plan.reference,
    planType: plan.type,
    endsAtMs: purchase.endDate === null ? null : purchase.endDate.getTime(),
    ...limitsOf(purchase, plan),
    ...charged,
    ...(limits === undefined ? {} : { limits }),
    ...(packs === undefined ? {} : { packs }),
    credit: paysWallet
      ? { creditsPerUnit: plan.terms.creditsPerUnit ?? 0, currency: plan.currency }
      : null,
    firstPeriodStartSecond: unixSeconds(purchase.startDate),
    ...sharedWindowOf(purchase),
    periods: periods.map(toSeconds),
    customerRefs: context.customerRefs,
  }
}

/** Caps act at once, so both plans have the same. New prices of the customer wait for the next period. */
function chargesOf(
  current: PlanSnapshot,
  next: PlanSnapshot,
  { overrides = [] }: EntitledPurchase,
): Pick<Entitlement, 'charges' | 'laterCharges'> {
  const charges = entitledCharges(current)
  if (charges === undefined) return {}
  const last = overrides.at(-1)
  const later = entitledCharges(next)
  if (last === undefined || later === undefined || isDeepStrictEqual(charges, later)) {
    return { charges }
  }
  return {
    charges,
    laterCharges: { fromSecond: unixSeconds(new Date(last.since)), charges: later },
  }
}

function limitsOf(purchase: EntitledPurchase, plan: PlanSnapshot): ReturnType<typeof splitLimits> {
  const cap = effectiveCap(plan)
  const rollOver = rollOverOf(purchase, plan)
  const every = {
    cap: cap === null ? null : cap.toString(),
    ...unbilledOf(purchase, plan),
    ...(rollOver === undefined ? {} : { rollOver }),
  }
  const first = firstPeriodOf(purchase, plan)
  return first === undefined ? every : splitLimits(every, first)
}

function rollOverOf(purchase: EntitledPurchase, plan: PlanSnapshot): RollOver | undefined {
  const limit = rollOverLimitMicros(plan)
  if (limit === undefined) return undefined
  const leaving = rollOverSpan(purchase)
  const settled = settledUnitsOf(purchase)
  return {
    limit: limit.toString(),
    ...leaving,
    ...(settled === undefined || !rollsUnitsOver(leaving, settled.startSecond) ? {} : { settled }),
  }
}

function unbilledOf(
  { anchor, raisedUnbilled: raised }: EntitledPurchase,
  plan: PlanSnapshot,
): Pick<Entitlement, 'unbilled'> {
  const cap = unbilledCap(plan)
  if (cap === null) return {}
  const fromSecond = unixSeconds(anchor)
  const raisedUnits = raised && {
    raised: { startSecond: unixSeconds(raised.periodStart), units: raised.micros.toString() },
  }
  return { unbilled: { ...cap, units: cap.units.toString(), fromSecond, ...raisedUnits } }
}

function sharedWindowOf({ allowance }: EntitledPurchase): Pick<Entitlement, 'sharedWindow'> {
  if (allowance === null) return {}
  return { sharedWindow: { id: allowance.window, fromSecond: unixSeconds(allowance.since) } }
}

function firstPeriodOf(purchase: EntitledPurchase, plan: PlanSnapshot): PeriodLimits | undefined {
  if (purchase.firstIncludedMicros === null) return undefined
  const first = planOfPeriod(plan, purchase, { start: purchase.startDate })
  const cap = effectiveCap(first)
  const unbilled = unbilledCap(first)
  return {
    cap: cap === null ? null : cap.toString(),
    // A first period without included units leaves no units to the next period.
    rollOverLimit: (rollOverLimitMicros(first) ?? 0n).toString(),
    ...(unbilled === null ? {} : { unbilledUnits: unbilled.units.toString() }),
  }
}

function settledUnitsOf({ carriedInto, carriedOverMicros }: EntitledPurchase): RollOver['settled'] {
  if (carriedInto === null || carriedOverMicros === null) return undefined
  return { startSecond: unixSeconds(carriedInto), units: carriedOverMicros.toString() }
}

/** Returns the purchase's period that contains the instant. The `usage` field of a purchase shows this period. */
export function purchasePeriodAt(
  purchase: EntitledPurchase,
  plan: PlanSnapshot,
  instant: Date,
): Period {
  const cycle = cycleOf(purchase, plan)
  if (cycle === undefined) return entireTerm(purchase)
  return usagePeriodAt(cycle, purchase.startDate, instant)
}

/** Returns the id of the counter window of the purchase's period. */
export function purchaseWindowOf(
  { reference, startDate, allowance }: EntitledPurchase,
  { start }: Pick<Period, 'start'>,
): string {
  const isFirst = unixSeconds(start) === unixSeconds(startDate)
  return isFirst && allowance !== null ? allowance.window : windowId(reference, unixSeconds(start))
}

function countedPeriods(
  purchase: EntitledPurchase,
  plan: PlanSnapshot,
  { now, packs }: EntitlementContext,
): Period[] {
  const cycle = cycleOf(purchase, plan)
  if (cycle === undefined) return [entireTerm(purchase)]
  // A purchase that starts in the future is published from its first period on.
  const { startDate } = purchase
  const current = usagePeriodAt(cycle, startDate, now).index
  const behind = usagePeriodOf(cycle, startDate, current - periodsBehind)
  const first = Math.min(behind.index, firstUnsettled(cycle, startDate, behind, packs))
  const count = current - first + 1 + periodsAhead
  const end = purchase.endDate ?? farFuture
  return Array.from({ length: count }, (_, next) => usagePeriodOf(cycle, startDate, first + next))
    .filter((period) => period.start < end)
    .map((period) => (period.end <= end ? period : { ...period, end }))
}

/** Maximum number of earlier periods that are published because their usage of packs is not settled. */
const unsettledPeriodsMax = 40

/** Returns the index of the first period whose usage of packs is not settled. */
function firstUnsettled(
  cycle: Cycle,
  startDate: Date,
  { index, start }: Period,
  packs: PackAccount | undefined,
): number {
  if (packs === undefined || packs.settledTo >= start) return index
  // Without units that are left, nothing is settled any longer.
  if (openPacks(packs).length === 0) return index
  const from = packs.settledTo < startDate ? startDate : packs.settledTo
  return Math.max(usagePeriodAt(cycle, startDate, from).index, index - unsettledPeriodsMax)
}

/** Returns the only period of a plan without a cycle, which lasts as long as the access. */
function entireTerm(purchase: EntitledPurchase): Period {
  return { index: 0, start: purchase.anchor, end: purchase.endDate ?? farFuture }
}

function cycleOf(purchase: EntitledPurchase, plan: PlanSnapshot): Cycle | undefined {
  const { billingCycle, billingCycleDays } = plan.terms
  if (billingCycle === undefined) return undefined
  const { anchor, cycleMode: mode } = purchase
  return { anchor, mode, billingCycle, customDays: billingCycleDays }
}

/** Rounds an end within a second up, so that the period covers the whole second. */
function toSeconds(period: Period): Entitlement['periods'][number] {
  return {
    startSecond: unixSeconds(period.start),
    endSecond: Math.ceil(period.end.getTime() / 1000),
  }
}
