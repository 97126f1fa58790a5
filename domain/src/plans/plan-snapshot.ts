import type { PlanSnapshot } from './plan.ts'

export type { PlanSnapshot }

/** Returns the snapshot of the plan as it is sold to everybody. The prices of a customer and of a ramp are found by time. */
export function snapshotOf(offered: PlanSnapshot): PlanSnapshot {
  const plan = offered.listed ?? offered
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
    ...(plan.rampPeriods === undefined ? {} : { rampPeriods: plan.rampPeriods }),
  }
}
