import { createCoupon } from '@tollgate/domain/coupons/manage-coupons'
import type { CouponTerms } from '@tollgate/domain/coupons/coupon'
import { runUnitOfWork } from '@tollgate/domain/unit-of-work/run-unit-of-work'
import { operationIn } from './operation-in.ts'
import type { Stores } from './stores.ts'

const anyPlan = {
  code: null,
  amountOffMinor: null,
  currency: null,
  productRefs: [],
  planRefs: [],
  redemptionsMax: null,
  redemptionsPerCustomerMax: null,
  redeemBy: null,
} as const

/** Discounts by a percentage, or by an amount in US cents. */
export const coupons = {
  'a fifth': { ...anyPlan, percentOff: '20', duration: 'forever', durationInvoices: null },
  /** Two invoices of a customer who has not redeemed it before. */
  'a half': {
    ...anyPlan,
    percentOff: '50',
    duration: 'repeating',
    durationInvoices: 2,
    redemptionsPerCustomerMax: 1,
  },
  'all of it': {
    ...anyPlan,
    percentOff: '100',
    duration: 'once',
    durationInvoices: 1,
    redemptionsPerCustomerMax: 1,
  },
  '5 dollars': {
    ...anyPlan,
    percentOff: null,
    amountOffMinor: 500n,
    currency: 'USD',
    duration: 'once',
    durationInvoices: 1,
  },
} as const satisfies Record<string, Omit<CouponTerms, 'name'>>

export type CouponName = keyof typeof coupons
export const couponNames = Object.keys(coupons) as readonly CouponName[]
export type CouponRefs = Readonly<Record<CouponName, string>>

/** Adds the coupons to a provider. */
export async function addCoupons(
  { postgres, clock }: Stores,
  providerId: string,
): Promise<CouponRefs> {
  const operation = operationIn(providerId, new Date(clock.now()))
  const { result } = await runUnitOfWork(postgres.database, operation, async (work) => {
    const refs: Partial<Record<CouponName, string>> = {}
    for (const name of couponNames) {
      const coupon = await createCoupon(work, { ...coupons[name], name })
      refs[name] = coupon!.reference
    }
    return refs as CouponRefs
  })
  return result
}
