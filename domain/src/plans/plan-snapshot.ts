import type { Plan } from './plan.ts'

/** Snapshot of the plan that a purchase keeps: all fields on which limits and prices depend. */
export type PlanSnapshot = Pick<
  Plan,
  | 'reference'
  | 'name'
  | 'type'
  | 'priceMinor'
  | 'basePriceMinor'
  | 'setupFeeMinor'
  | 'currency'
  | 'meterRef'
  | 'terms'
>

export function snapshotOf(plan: PlanSnapshot): PlanSnapshot {
  return {
    reference: plan.reference,
    name: plan.name,
    type: plan.type,
    priceMinor: plan.priceMinor,
    basePriceMinor: plan.basePriceMinor,
    setupFeeMinor: plan.setupFeeMinor,
    currency: plan.currency,
    meterRef: plan.meterRef,
    terms: plan.terms,
  }
}
