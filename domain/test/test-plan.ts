import type { Plan } from '../src/plans/plan.ts'

const createdAt = new Date('2026-01-01T00:00:00Z')

/** Returns a free monthly plan with the given fields replaced. */
export function createTestPlan(fields: Partial<Plan>): Plan {
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
    createdAt: createdAt,
    updatedAt: createdAt,
    ...fields,
  }
}
