import { atLeastZero } from '../money/amounts.ts'
import type { PlanCore } from '../plans/plan.ts'
import { ownMicros } from './own-units.ts'

/** Usage of a meter in one period, 10^-6 units. */
export type UsageAbovePlan = {
  readonly usedMicros: bigint
  /** Usage of the shared allowance by earlier purchases. */
  readonly usedBeforeMicros: bigint
  /** The part of it that packs paid for. It takes up nothing of the plan's own units. */
  readonly paidBeforeMicros: bigint
  /** Units carried over from the period before. */
  readonly carriedOverMicros: bigint
}

/** Returns the units of the period that the plan does not provide, so that packs pay for them, 10^-6. */
export function excessMicros(plan: PlanCore, meterName: string, usage: UsageAbovePlan): bigint {
  const own = ownMicros(plan, meterName, usage.carriedOverMicros)
  if (own === null) return 0n
  const before = atLeastZero(usage.usedBeforeMicros - usage.paidBeforeMicros)
  const excess = atLeastZero(before + usage.usedMicros - own) - atLeastZero(before - own)
  return atLeastZero(excess)
}
