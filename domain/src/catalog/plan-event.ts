import type { EventObject } from '@tollgate/schemas/event-types'
import { unixSeconds } from '../periods/periods.ts'
import { requiresPayment, type Plan } from '../plans/plan.ts'

/** Returns `data.object` of the plan events. */
export function planObject(plan: Plan): EventObject<'plan.created'> {
  return {
    id: plan.reference,
    reference: plan.reference,
    name: plan.name,
    status: plan.status,
    kind: plan.type,
    price: plan.priceMinor,
    currency: plan.currency.toLowerCase(),
    requiresPayment: requiresPayment(plan),
    created: unixSeconds(plan.createdAt),
  }
}
