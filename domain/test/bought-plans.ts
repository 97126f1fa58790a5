import type { Customer } from '../src/customers/repository.ts'
import type { PlanSnapshot } from '../src/plans/plan-snapshot.ts'
import type { PlanTerms } from '../src/plans/plan.ts'
import { newPaidPurchase, switchPrice } from '../src/purchases/new-purchase.ts'
import type { Purchase } from '../src/purchases/repository.ts'

export const buyer = { reference: 'cus_a', email: 'a@example.com' } as Customer
export const soldProduct = { reference: 'prd_A', name: 'API' }

/** Returns the snapshot of a recurring monthly plan. */
export function snapshotOfPlan(
  reference: string,
  priceMinor: number,
  terms: PlanTerms = {},
  fields: Partial<PlanSnapshot> = {},
): PlanSnapshot {
  return {
    ...{ reference, name: reference, type: 'recurring', priceMinor, currency: 'USD' },
    ...{ basePriceMinor: null, setupFeeMinor: null, meterRef: null },
    terms: { billingCycle: 'monthly', ...terms },
    ...fields,
  }
}

/** Returns an active purchase of the plan, paid when it started. */
export function boughtPlan(
  plan: PlanSnapshot,
  startsAt: Date,
  fields: Partial<Purchase> = {},
): Purchase {
  const given = { customer: buyer, product: soldProduct, plan, cycleMode: 'calendar' } as const
  const purchase = newPaidPurchase({ ...given, now: startsAt }, switchPrice(plan, 'USD', '1'))
  return { ...purchase, status: 'active', ...fields }
}
