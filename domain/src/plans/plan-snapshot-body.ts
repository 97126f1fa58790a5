import type { PlanSnapshotBody } from '@tollgate/schemas/http/purchases'
import { numberFromMicros } from '@tollgate/schemas/quantity'
import { attachedTo, withoutAddOns } from './add-ons.ts'
import type { PlanSnapshot } from './plan-snapshot.ts'
import { effectiveCap } from './plan-cap.ts'

/**
 * Returns the snapshot of a purchase's plan as shown to clients. Without a cap `limit` is absent, because clients would show 0 as
 * nothing left.
 */
export function planSnapshotBody(plan: PlanSnapshot): PlanSnapshotBody {
  const { terms } = plan
  const limit = limitShown(plan)
  const addOns = addOnsBody(plan)
  return {
    reference: plan.reference,
    name: plan.name,
    price: withoutAddOns(plan).priceMinor,
    currency: plan.currency,
    planType: plan.type,
    billingCycle: terms.billingCycle ?? null,
    features: terms.features ?? null,
    limits: terms.limits ?? null,
    ...(plan.meterRef === null ? {} : { meterRef: plan.meterRef }),
    ...(limit === undefined ? {} : { limit }),
    ...(terms.freeUnits === undefined ? {} : { freeUnits: terms.freeUnits }),
    ...(terms.creditsPerUnit === undefined ? {} : { creditsPerUnit: terms.creditsPerUnit }),
    ...(terms.charges === undefined ? {} : { charges: [...terms.charges] }),
    ...(terms.usageLimits === undefined ? {} : { usageLimits: [...terms.usageLimits] }),
    ...(terms.pack === undefined ? {} : { pack: terms.pack }),
    ...(addOns === undefined ? {} : { addOns }),
  }
}

/** Returns the add-ons of a purchase's plan as shown to clients, or undefined if there are none. */
export function addOnsBody(plan: PlanSnapshot): PlanSnapshotBody['addOns'] {
  const attached = attachedTo(plan)
  if (attached.length === 0) return undefined
  return attached.map(({ reference, name, quantity, price, raises }) => ({
    ...{ reference, name, quantity, price },
    raises: [...raises],
  }))
}

/** Returns the plan's own limit, or the cap in its place, such as the free units of a free plan. */
function limitShown(plan: PlanSnapshot): number | undefined {
  const { limit } = plan.terms
  if (limit !== undefined && limit > 0) return limit
  const cap = effectiveCap(plan)
  return cap === null ? undefined : numberFromMicros(cap)
}
