import type { BilledUsage } from '../invoices/sum-billed-usage.ts'
import { unixSeconds } from '../periods/periods.ts'
import { planOfPeriod, type ProratedPurchase } from '../plans/included-units.ts'
import { lateUsageLines, usageLines } from '../pricing/charges.ts'
import type { ChargedPeriod, InvoiceLine } from '../pricing/invoice-line.ts'
import type { CreditConversion, UsageReading } from '../pricing/line-inputs.ts'
import {
  rollsUnitsOver,
  rollOverSpan,
  rolledOverMicros,
  type RollOverPurchase,
} from '../pricing/roll-over.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'

/** A period and all of its stored usage, in 10^-6 units. */
export type UsedPeriod = {
  readonly period: ChargedPeriod
  readonly usedMicros: bigint
  /** Usage of the allowance by earlier purchases that share it in this period; 0 if the allowance is not shared. */
  readonly usedBeforeMicros: bigint
}

/** A period that was billed before. */
export type BilledUsedPeriod = UsedPeriod & { readonly billed: BilledUsage }

export type UsageToPrice = {
  /** Undefined if all periods are billed and only late usage is left. */
  readonly current: UsedPeriod | undefined
  /** Newest first. The newest billed period is always included. */
  readonly earlier: readonly BilledUsedPeriod[]
  readonly reading: UsageReading
}

/** The fields of a purchase that decide how its usage is priced. */
type PricedPurchase = RollOverPurchase & ProratedPurchase

/**
 * Returns the usage lines of one invoice: a line for the late usage of each earlier period, oldest first, then the
 * lines of the current period.
 */
export function usageBillLines(
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
  const carriedOverMicros = rolledOverInto(purchase, plan, current.period, earlier)
  const own = planOfPeriod(plan, purchase, current.period)
  return [...late, ...usageLines(own, conversion, { ...current, carriedOverMicros, reading })]
}

/** Returns the units that the previous period leaves to this period, in 10^-6 units. */
function rolledOverInto(
  purchase: PricedPurchase,
  plan: PlanSnapshot,
  { start }: ChargedPeriod,
  earlier: readonly UsedPeriod[],
): bigint {
  if (!rollsUnitsOver(rollOverSpan(purchase), unixSeconds(start))) return 0n
  const before = earlier.find(({ period }) => period.end.getTime() === start.getTime())
  if (before === undefined) return 0n
  const leaving = planOfPeriod(plan, purchase, before.period)
  return rolledOverMicros(leaving, before.usedBeforeMicros + before.usedMicros)
}
