import { microsFromNumber } from '@tollgate/schemas/quantity'
import type { PlanCore } from './plan.ts'

/**
 * How much one period of the plan allows, in 10^-6 units; null: no cap. A limit of 0 means none. The wallet of a
 * pre-paid plan is a gate of its own and no part of this. Units carried over from the period before widen a cap.
 */
export function effectiveCap(plan: PlanCore, carriedOverMicros = 0n): bigint | null {
  const cap = capOf(plan)
  return cap === null ? null : cap + carriedOverMicros
}

function capOf(plan: PlanCore): bigint | null {
  const { limit, freeUnits, limits } = plan.terms
  switch (plan.type) {
    case 'recurring':
      // Free units of a free plan are all it gives; those of a paid plan never widen it.
      return positive(limit) ?? (plan.priceMinor === 0 ? positive(freeUnits) : null)
    case 'usage-based':
      return positive(limit)
    case 'one-time':
      return positive(limit) ?? positive(limits?.['maxTransactions'])
    case 'hybrid':
      return hybridCap(plan)
  }
}

/** Without overage the included units are a hard cap; with it they are only where the overage begins. */
function hybridCap({ terms }: PlanCore): bigint | null {
  const limit = positive(terms.limit)
  if (terms.overagePolicy?.allowOverage !== true) return limit
  const overage = positive(terms.overagePolicy.maxOverage)
  if (overage === null) return null
  return (limit ?? 0n) + (positive(terms.freeUnits) ?? 0n) + overage
}

function positive(units: unknown): bigint | null {
  if (typeof units !== 'number' || units <= 0) return null
  const micros = microsFromNumber(units)
  return micros === undefined ? null : BigInt(micros)
}
