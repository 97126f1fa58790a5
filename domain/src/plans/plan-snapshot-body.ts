import type { PlanSnapshotBody } from '@tollgate/schemas/http/purchases'
import { numberFromMicros } from '@tollgate/schemas/quantity'
import type { PlanSnapshot } from './plan-snapshot.ts'
import { effectiveCap } from './plan-cap.ts'

/** A purchase's frozen plan as clients see it. Without a cap there is no `limit`: clients would show 0 as none left. */
export function planSnapshotBody(plan: PlanSnapshot): PlanSnapshotBody {
  const { terms } = plan
  const limit = limitShown(plan)
  return {
    reference: plan.reference,
    name: plan.name,
    price: plan.priceMinor,
    currency: plan.currency,
    planType: plan.type,
    billingCycle: terms.billingCycle ?? null,
    features: terms.features ?? null,
    limits: terms.limits ?? null,
    ...(plan.meterRef === null ? {} : { meterRef: plan.meterRef }),
    ...(limit === undefined ? {} : { limit }),
    ...(terms.freeUnits === undefined ? {} : { freeUnits: terms.freeUnits }),
    ...(terms.creditsPerUnit === undefined ? {} : { creditsPerUnit: terms.creditsPerUnit }),
  }
}

/** The plan's own limit, or what caps it in its place, such as the free units of a free plan. */
function limitShown(plan: PlanSnapshot): number | undefined {
  const { limit } = plan.terms
  if (limit !== undefined && limit > 0) return limit
  const cap = effectiveCap(plan)
  return cap === null ? undefined : numberFromMicros(cap)
}
