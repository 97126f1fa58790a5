import type { BilledUsage } from '../invoices/sum-billed-usage.ts'
import { billsWithinPeriods } from '../plans/bill-threshold.ts'
import { unixSeconds } from '../periods/periods.ts'
import { planToBill, type OverriddenPurchase } from '../overrides/overridden-plan.ts'
import type { ProratedPurchase } from '../plans/included-units.ts'
import { billedCharges } from '../pricing/billed-charges.ts'
import { lateUsageLines, usageLines, type LateUsage, type PeriodPart } from '../pricing/charges.ts'
import type { ChargedPeriod, InvoiceLine } from '../pricing/invoice-line.ts'
import type { CreditConversion, UsageReading } from '../pricing/line-inputs.ts'
import {
  rollsUnitsOver,
  rollOverSpan,
  unusedMicros,
  type RollOverPurchase,
} from '../pricing/roll-over.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'

/** A period and all of its stored usage of one charge, in 10^-6 units. */
export type UsedPeriod = {
  readonly period: ChargedPeriod
  readonly usedMicros: bigint
  /** Usage of the allowance by earlier purchases that share it in this period; 0 if the allowance is not shared. */
  readonly usedBeforeMicros: bigint
  /** The part of `usedMicros` that packs paid for; absent if there is none. */
  readonly packMicros?: bigint | undefined
  /** `usedMicros` by row of a matrix: one number for each row, and the last one for all other records. */
  readonly rowMicros?: readonly bigint[] | undefined
}

/** A period that was billed before. */
export type BilledUsedPeriod = UsedPeriod & {
  readonly billed: BilledUsage
  /** A correction has changed its usage since its last bill. */
  readonly isCorrected?: boolean | undefined
}

/** The usage of one charge of a plan. */
export type ChargeUsage = {
  /** Key of the charge; null for a plan without charges. */
  readonly key: string | null
  /** Undefined if all periods are billed and only late usage is left. */
  readonly current: UsedPeriod | undefined
  /** Newest first. The newest billed period is always included. */
  readonly earlier: readonly BilledUsedPeriod[]
  readonly reading: UsageReading
}

/** The usage of each charge, in the order of the plan. */
export type UsageToPrice = readonly ChargeUsage[]

/** The fields of a purchase that decide how its usage is priced. */
export type PricedPurchase = RollOverPurchase & ProratedPurchase & OverriddenPurchase

/** The part of a period that a bill charges, if the period has more than one bill. */
export type BilledPart = PeriodPart & { readonly periodStart: Date }

/**
 * Returns the usage lines of one invoice: for each charge, a line for the late usage of each earlier period, oldest first, and after
 * all of these a line for each charge in the current period. A period that was billed in part is among the earlier ones.
 */
export function usageBillLines(
  purchase: PricedPurchase,
  plan: PlanSnapshot,
  conversion: CreditConversion,
  usage: UsageToPrice,
  part?: BilledPart,
): InvoiceLine[] {
  const late = usage.flatMap((charge) => lateLines(purchase, plan, conversion, charge, part))
  const current = usage.flatMap((charge) => currentLines(purchase, plan, conversion, charge, part))
  return [...late, ...current]
}

function lateLines(
  purchase: PricedPurchase,
  plan: PlanSnapshot,
  conversion: CreditConversion,
  { key, earlier, reading }: ChargeUsage,
  part: BilledPart | undefined,
): InvoiceLine[] {
  return earlier.toReversed().flatMap(({ period, billed, isCorrected, ...used }) => {
    // Exact lines add up to the price of the period, so a credit returns no more than was charged. All others are rounded separately.
    const isLess = used.usedMicros < billed.usedMicros
    const isExact = isCorrected === true || isLess || billsWithinPeriods(plan)
    const billedRows = used.rowMicros?.map((_, row) => billed.rowMicros?.[row] ?? 0n)
    const late = {
      period,
      ...billed,
      rowMicros: billedRows,
      lateMicros: used.usedMicros - billed.usedMicros,
      lateBeforeMicros: used.usedBeforeMicros - billed.usedBeforeMicros,
      latePackMicros: (used.packMicros ?? billed.packMicros ?? 0n) - (billed.packMicros ?? 0n),
      lateRowMicros: used.rowMicros?.map((micros, row) => micros - billedRows![row]!),
      ...(isExact ? restOf(purchase, plan, { key, earlier }, { period, billed }, part) : {}),
      reading,
    }
    // All lines of a period have one rate, so that a new rate does not price billed units again.
    const rate = isExact ? (billed.conversion ?? conversion) : conversion
    return lateUsageLines(planToBill(plan, purchase, period), rate, late, key)
  })
}

/**
 * Returns the fields of a late line that make the lines of a period add up to its price. Units that are carried over into a period are
 * final with its last bill.
 */
function restOf(
  purchase: PricedPurchase,
  plan: PlanSnapshot,
  { key, earlier }: Pick<ChargeUsage, 'key' | 'earlier'>,
  { period, billed }: Pick<BilledUsedPeriod, 'period' | 'billed'>,
  part: BilledPart | undefined,
): Pick<LateUsage, 'billedMinor' | 'lateCarriedOverMicros' | 'part'> {
  const billedMinor = billed.amountMinor ?? 0n
  if (part?.periodStart.getTime() !== period.start.getTime()) return { billedMinor }
  const hasBefore = earlier.some((each) => each.period.end.getTime() === period.start.getTime())
  const lateCarriedOverMicros = hasBefore
    ? carriedOverInto(purchase, plan, key, period, earlier) - billed.carriedOverMicros
    : 0n
  return { billedMinor, lateCarriedOverMicros, part }
}

function currentLines(
  purchase: PricedPurchase,
  plan: PlanSnapshot,
  conversion: CreditConversion,
  { key, current, earlier, reading }: ChargeUsage,
  part: BilledPart | undefined,
): InvoiceLine[] {
  if (current === undefined) return []
  const carriedOverMicros = carriedOverInto(purchase, plan, key, current.period, earlier)
  const own = planToBill(plan, purchase, current.period)
  return usageLines(own, conversion, { ...current, carriedOverMicros, part, reading }, key)
}

/** Returns the units of the charge that the previous period leaves to this period, in 10^-6 units. */
export function carriedOverInto(
  purchase: PricedPurchase,
  plan: PlanSnapshot,
  key: string | null,
  { start }: ChargedPeriod,
  earlier: readonly UsedPeriod[],
): bigint {
  if (!rollsUnitsOver(rollOverSpan(purchase), unixSeconds(start))) return 0n
  const before = earlier.find(({ period }) => period.end.getTime() === start.getTime())
  if (before === undefined) return 0n
  const leaving = billedCharges(planToBill(plan, purchase, before.period))
  const limit = leaving.find((charge) => charge.key === key)?.rollOverMicros
  return limit === undefined ? 0n : unusedMicros(limit, before.usedBeforeMicros + before.usedMicros)
}
