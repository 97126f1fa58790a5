import type { BilledUsage } from '../invoices/sum-billed-usage.ts'
import { unixSecond } from '../periods/periods.ts'
import { planOfPeriod, type ProratedPurchase } from '../plans/included-units.ts'
import { lateUsageLines, usageLines } from '../pricing/charges.ts'
import type { ChargedPeriod, InvoiceLine } from '../pricing/invoice-line.ts'
import type { CreditConversion, UsageReading } from '../pricing/line-inputs.ts'
import {
  leavesUnits,
  leavingOf,
  rolledOverMicros,
  type RollingPurchase,
} from '../pricing/roll-over.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'

/** A period and all usage of it that is stored, in 10^-6 units. */
export type UsedPeriod = {
  readonly period: ChargedPeriod
  readonly usedMicros: bigint
  /** Used by the purchases before this one of the allowance that the period shares; 0 in every other period. */
  readonly usedBeforeMicros: bigint
}

/** One that was billed before. */
export type BilledUsedPeriod = UsedPeriod & { readonly billed: BilledUsage }

export type UsageToPrice = {
  /** Undefined: all periods are billed, and what came late is left. */
  readonly current: UsedPeriod | undefined
  /** Newest first; the newest one in any case. */
  readonly earlier: readonly BilledUsedPeriod[]
  readonly reading: UsageReading
}

/** What of a purchase decides how its usage is priced. */
type PricedPurchase = RollingPurchase & ProratedPurchase

/** What is charged for usage with one invoice: what came late of earlier periods, each by itself, and the period's own. */
export function linesOfUsage(
  purchase: PricedPurchase,
  plan: PlanSnapshot,
  conversion: CreditConversion,
  { current, earlier, reading }: UsageToPrice,
): InvoiceLine[] {
  const late = earlier.toReversed().flatMap(({ period, usedMicros, usedBeforeMicros, billed }) =>
    lateUsageLines(planOfPeriod(plan, purchase, period), conversion, {
      period,
      ...billed,
      lateMicros: usedMicros - billed.usedMicros,
      lateBeforeMicros: usedBeforeMicros - billed.usedBeforeMicros,
      reading,
    }),
  )
  if (current === undefined) return late
  const carriedOverMicros = carriedInto(purchase, plan, current.period, earlier)
  const own = planOfPeriod(plan, purchase, current.period)
  return [...late, ...usageLines(own, conversion, { ...current, carriedOverMicros, reading })]
}

/** What the period before leaves to it. */
function carriedInto(
  purchase: PricedPurchase,
  plan: PlanSnapshot,
  { start }: ChargedPeriod,
  earlier: readonly UsedPeriod[],
): bigint {
  if (!leavesUnits(leavingOf(purchase), unixSecond(start))) return 0n
  const before = earlier.find(({ period }) => period.end.getTime() === start.getTime())
  if (before === undefined) return 0n
  const leaving = planOfPeriod(plan, purchase, before.period)
  return rolledOverMicros(leaving, before.usedBeforeMicros + before.usedMicros)
}
