import type { Plan } from '../src/plans/plan.ts'

const madeAt = new Date('2026-01-01T00:00:00Z')

/** A free monthly plan, but for the fields that the test names. */
export function aPlan(fields: Partial<Plan>): Plan {
  return {
    reference: 'pln_A',
    key: null,
    productRef: 'prd_A',
    name: 'Plan',
    description: null,
    type: 'recurring',
    status: 'active',
    isDefault: false,
    hidden: false,
    priceMinor: 0,
    basePriceMinor: null,
    setupFeeMinor: null,
    currency: 'USD',
    meterRef: null,
    terms: { billingCycle: 'monthly' },
    createdAt: madeAt,
    updatedAt: madeAt,
    ...fields,
  }
}
