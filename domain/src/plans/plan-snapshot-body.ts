import type { PlanSnapshotBody } from '@tollgate/schemas/http/purchases'
import type { PlanSnapshot } from '../purchases/plan-snapshot.ts'

/** A purchase's frozen plan as clients see it. Without a cap there is no `limit`: clients would show 0 as none left. */
export function planSnapshotBody(plan: PlanSnapshot): PlanSnapshotBody {
  const { terms } = plan
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
    ...((terms.limit ?? 0) > 0 ? { limit: terms.limit } : {}),
    ...(terms.freeUnits === undefined ? {} : { freeUnits: terms.freeUnits }),
    ...(terms.creditsPerUnit === undefined ? {} : { creditsPerUnit: terms.creditsPerUnit }),
  }
}
