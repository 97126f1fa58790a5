import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import type { PurchaseUsageBody } from '@tollgate/schemas/http/purchases'
import type { UserUsageBody } from '@tollgate/schemas/http/user-info'
import { microsFromNumber, numberFromMicros } from '@tollgate/schemas/quantity'
import type { Period } from '../periods/periods.ts'
import type { PlanCore } from '../plans/plan.ts'
import type { CreditConversion } from '../pricing/line-inputs.ts'
import { usageAmountMinor } from '../pricing/price-line.ts'
import { rollOverLimitMicros } from '../pricing/roll-over.ts'
import { usageTermsOf } from '../pricing/usage-terms.ts'
import { farFuture } from './compile-entitlement.ts'
import { packUnitsBody, remainingWithoutCap } from './limit-answer.ts'
import type { PackUnits } from './pack-units.ts'

/** Usage of one period, in 10^-6 units. */
export type CountedPeriod = {
  readonly usedMicros: bigint
  /** Units carried over from the previous period. */
  readonly carriedOverMicros: bigint
  /** Part of `usedMicros` that earlier purchases used of the shared allowance. Absent if it is 0. */
  readonly usedBeforeMicros?: bigint | undefined
  /** Units of packs. Absent if the customer has none. */
  readonly packs?: PackUnits | undefined
}

/**
 * Returns the `usage` field of a purchase: a view of the counters, never a source for other values. Without a
 * conversion, because the currency has no exchange rate, nothing could be charged and the cost is 0.
 */
export function purchaseUsage(
  plan: PlanCore,
  counted: CountedPeriod,
  period: Period,
  conversion: CreditConversion | undefined,
): PurchaseUsageBody {
  return {
    used: numberFromMicros(counted.usedMicros),
    overageUnits: numberFromMicros(overageMicros(plan, counted)),
    overageCost: Number(
      conversion === undefined ? 0n : costMinor(plan, counted, period, conversion),
    ),
    carriedOverUnits: numberFromMicros(counted.carriedOverMicros),
    ...(counted.packs === undefined
      ? {}
      : {
          packUnits: numberFromMicros(counted.packs.addedMicros),
          packRemaining: numberFromMicros(counted.packs.leftMicros),
        }),
    periodStart: period.start.toISOString(),
    // A purchase without an end date has a period without an end.
    ...(period.end < farFuture ? { periodEnd: period.end.toISOString() } : {}),
  }
}

/** Returns the usage above the plan's limit. The limit is not the cap: a hybrid plan may sell units above the limit. */
function overageMicros(plan: PlanCore, counted: CountedPeriod): bigint {
  const { usedMicros, carriedOverMicros } = counted
  const limit = BigInt(microsFromNumber(plan.terms.limit ?? 0) ?? 0)
  const included = limit + carriedOverMicros + paidByPacks(counted)
  return limit > 0n && usedMicros > included ? usedMicros - included : 0n
}

/** Returns the units of the period that packs pay for. */
function paidByPacks({ packs }: CountedPeriod): bigint {
  return packs === undefined ? 0n : packs.addedMicros - packs.leftMicros
}

/** Returns the cost as it will be billed. A trial comes before the first period and is not billed. */
function costMinor(
  plan: PlanCore,
  counted: CountedPeriod,
  { index }: Period,
  conversion: CreditConversion,
): bigint {
  const { usedMicros, carriedOverMicros, usedBeforeMicros = 0n } = counted
  const terms = usageTermsOf(plan)
  if (terms === undefined || index < 0) return 0n
  const own = usedMicros > usedBeforeMicros ? usedMicros - usedBeforeMicros : 0n
  const paid = paidByPacks(counted)
  const packMicros = paid < own ? paid : own
  const units = { usedMicros: own, carriedOverMicros, usedBeforeMicros, packMicros }
  return usageAmountMinor(terms, units, conversion)
}

/**
 * Returns the `purchase.usage` field of user info. `cap` is the allowed usage of the period in 10^-6 units, null if it
 * is unlimited.
 */
export function userUsage(
  plan: PlanCore & { readonly meterRef: string | null },
  { usedMicros, carriedOverMicros, packs }: CountedPeriod,
  cap: bigint | null,
): UserUsageBody {
  const meterRef = plan.meterRef === null ? {} : { meterRef: plan.meterRef }
  const carried =
    rollOverLimitMicros(plan) === undefined
      ? {}
      : { carriedOverUnits: numberFromMicros(carriedOverMicros) }
  const used = numberFromMicros(usedMicros)
  const packed = packs === undefined ? {} : packedFields(packs, cap, usedMicros)
  if (cap === null) {
    return {
      total: remainingWithoutCap,
      used,
      remaining: remainingWithoutCap,
      ...meterRef,
      ...carried,
      ...packed,
    }
  }
  return {
    total: numberFromMicros(cap),
    used,
    remaining: usedMicros >= cap ? 0 : numberFromMicros(cap - usedMicros),
    ...meterRef,
    percentUsed: percentOf(usedMicros, cap),
    ...carried,
    ...packed,
  }
}

function packedFields(
  packs: PackUnits,
  cap: bigint | null,
  usedMicros: bigint,
): Pick<UserUsageBody, 'planRemaining' | 'packRemaining'> {
  const { meterName: _meter, ...units } = packUnitsBody(requestsMeterName, packs, cap, usedMicros)
  return units
}

/** Returns the percentage with 2 decimals, rounded half up, at most 100. */
function percentOf(usedMicros: bigint, cap: bigint): number {
  const hundredths = (usedMicros * 10_000n * 2n + cap) / (cap * 2n)
  return Number(hundredths > 10_000n ? 10_000n : hundredths) / 100
}

/** Returns the summary at the beginning of user info. */
export function usageSummary(productName: string, usage: UserUsageBody | undefined): string {
  if (usage === undefined) return 'No active subscription'
  const name = `Active subscription: ${productName}`
  return usage.percentUsed === undefined ? name : `${name} (${usage.percentUsed}% usage consumed)`
}
