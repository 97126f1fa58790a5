import { microsFromNumber } from '@tollgate/schemas/quantity'
import type { PlanCore } from './plan.ts'

/**
 * Returns the cap of one period of the plan, in 10^-6 units; null for no cap. A limit of 0 means no limit. The wallet of a pre-paid
 * plan is a separate limit. Units carried over from the period before increase a cap.
 */
export function effectiveCap(plan: PlanCore, carriedOverMicros = 0n): bigint | null {
  // Charges have caps of their own.
  if (plan.terms.charges !== undefined) return null
  const cap = capOf(plan)
  return cap === null ? null : cap + carriedOverMicros
}

/** Returns whether the plan limits the usage of a period. */
export function hasCap(plan: PlanCore): boolean {
  const { charges, usageLimits = [] } = plan.terms
  if (charges === undefined) return effectiveCap(plan) !== null
  return usageLimits.length > 0 || charges.some(({ cap = 0 }) => cap > 0)
}

function capOf(plan: PlanCore): bigint | null {
  const { limit, freeUnits, limits } = plan.terms
  switch (plan.type) {
    case 'recurring':
      // The free units of a free plan are its cap. Those of a paid plan never increase its cap, not even in a period that is free.
      return (
        positive(limit) ?? ((plan.listed ?? plan).priceMinor === 0 ? positive(freeUnits) : null)
      )
    case 'usage-based':
      return positive(limit)
    case 'one-time':
      return positive(limit) ?? positive(limits?.['maxTransactions'])
    case 'hybrid':
      return hybridCap(plan)
  }
}

/** Without overage the limit is a hard cap. With overage it is only where the overage begins. */
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
