import type { PurchaseUsageBody } from '@tollgate/schemas/http/purchases'
import type { UserUsageBody } from '@tollgate/schemas/http/user-info'
import { microsFromNumber, numberFromMicros } from '@tollgate/schemas/quantity'
import type { Period } from '../periods/periods.ts'
import type { PlanCore } from '../plans/plan.ts'
import type { CreditConversion } from '../pricing/line-inputs.ts'
import { usageAmountMinor } from '../pricing/price-line.ts'
import { rollingLimitMicros } from '../pricing/roll-over.ts'
import { usageTermsOf } from '../pricing/usage-terms.ts'
import { farFuture } from './compile-entitlement.ts'
import { remainingWithoutCap } from './limit-answer.ts'

/** 10^-6 units. */
export type CountedOfPeriod = {
  readonly usedMicros: bigint
  /** What it was left by the period before. */
  readonly carriedOverMicros: bigint
  /** What of `usedMicros` other purchases used before this one took the allowance over. Absent: none of it. */
  readonly usedBeforeMicros?: bigint | undefined
}

/**
 * `usage` of a purchase: a view of the counters, never the source of anything. Without a conversion, as there is no rate of
 * the currency, nothing could be charged, and the cost is told as 0.
 */
export function purchaseUsage(
  plan: PlanCore,
  counted: CountedOfPeriod,
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
    periodStart: period.start.toISOString(),
    // A purchase without an end has a period without one.
    ...(period.end < farFuture ? { periodEnd: period.end.toISOString() } : {}),
  }
}

/** What was used above the plan's limit, which is not the cap: a hybrid plan may sell units above it. */
function overageMicros(plan: PlanCore, { usedMicros, carriedOverMicros }: CountedOfPeriod): bigint {
  const limit = BigInt(microsFromNumber(plan.terms.limit ?? 0) ?? 0)
  const included = limit + carriedOverMicros
  return limit > 0n && usedMicros > included ? usedMicros - included : 0n
}

/** As it will be billed: a trial, which comes before the first period, is not. */
function costMinor(
  plan: PlanCore,
  { usedMicros, carriedOverMicros, usedBeforeMicros = 0n }: CountedOfPeriod,
  { index }: Period,
  conversion: CreditConversion,
): bigint {
  const terms = usageTermsOf(plan)
  if (terms === undefined || index < 0) return 0n
  const own = usedMicros > usedBeforeMicros ? usedMicros - usedBeforeMicros : 0n
  const units = { usedMicros: own, carriedOverMicros, usedBeforeMicros }
  return usageAmountMinor(terms, units, conversion)
}

/** `purchase.usage` of user info. `cap`: what may be used of the period, 10^-6 units; null: any amount. */
export function userUsage(
  plan: PlanCore & { readonly meterRef: string | null },
  { usedMicros, carriedOverMicros }: CountedOfPeriod,
  cap: bigint | null,
): UserUsageBody {
  const meterRef = plan.meterRef === null ? {} : { meterRef: plan.meterRef }
  const carried =
    rollingLimitMicros(plan) === undefined
      ? {}
      : { carriedOverUnits: numberFromMicros(carriedOverMicros) }
  const used = numberFromMicros(usedMicros)
  if (cap === null) {
    return {
      total: remainingWithoutCap,
      used,
      remaining: remainingWithoutCap,
      ...meterRef,
      ...carried,
    }
  }
  return {
    total: numberFromMicros(cap),
    used,
    remaining: usedMicros >= cap ? 0 : numberFromMicros(cap - usedMicros),
    ...meterRef,
    percentUsed: percentOf(usedMicros, cap),
    ...carried,
  }
}

/** With two decimals, half up, at most 100. */
function percentOf(usedMicros: bigint, cap: bigint): number {
  const hundredths = (usedMicros * 10_000n * 2n + cap) / (cap * 2n)
  return Number(hundredths > 10_000n ? 10_000n : hundredths) / 100
}

/** The summary that user info opens with. */
export function usageSummary(productName: string, usage: UserUsageBody | undefined): string {
  if (usage === undefined) return 'No active subscription'
  const name = `Active subscription: ${productName}`
  return usage.percentUsed === undefined ? name : `${name} (${usage.percentUsed}% usage consumed)`
}
