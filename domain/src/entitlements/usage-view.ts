import type { PurchaseUsageBody } from '@tollgate/schemas/http/purchases'
import type { UserUsageBody } from '@tollgate/schemas/http/user-info'
import { microsFromNumber, numberFromMicros } from '@tollgate/schemas/quantity'
import type { Period } from '../periods/periods.ts'
import { effectiveCap } from '../plans/plan-cap.ts'
import type { PlanCore } from '../plans/plan.ts'
import { farFuture } from './compile-entitlement.ts'
import { remainingWithoutCap } from './limit-answer.ts'

/** `usage` of a purchase: a view of the counters, never the source of anything. */
export function purchaseUsage(
  plan: PlanCore,
  usedMicros: bigint,
  period: Period,
  overageCostMinor = 0,
): PurchaseUsageBody {
  return {
    used: numberFromMicros(usedMicros),
    overageUnits: numberFromMicros(overageMicros(plan, usedMicros)),
    overageCost: overageCostMinor,
    periodStart: period.start.toISOString(),
    // A purchase without an end has a period without one.
    ...(period.end < farFuture ? { periodEnd: period.end.toISOString() } : {}),
  }
}

/** What was used above the plan's limit, which is not the cap: a hybrid plan may sell units above it. */
function overageMicros(plan: PlanCore, usedMicros: bigint): bigint {
  const limit = BigInt(microsFromNumber(plan.terms.limit ?? 0) ?? 0)
  return limit > 0n && usedMicros > limit ? usedMicros - limit : 0n
}

/** `purchase.usage` of user info. */
export function userUsage(
  plan: PlanCore & { readonly meterRef: string | null },
  usedMicros: bigint,
): UserUsageBody {
  const cap = effectiveCap(plan)
  const meterRef = plan.meterRef === null ? {} : { meterRef: plan.meterRef }
  const used = numberFromMicros(usedMicros)
  if (cap === null) {
    return { total: remainingWithoutCap, used, remaining: remainingWithoutCap, ...meterRef }
  }
  return {
    total: numberFromMicros(cap),
    used,
    remaining: usedMicros >= cap ? 0 : numberFromMicros(cap - usedMicros),
    ...meterRef,
    percentUsed: percentOf(usedMicros, cap),
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
