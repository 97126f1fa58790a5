import type { Coupon } from './coupon.ts'

export type RedemptionFacts = {
  readonly coupon: Coupon
  /** Discounts by the coupon, including ended ones. */
  readonly redeemed: number
  readonly redeemedByCustomer: number
  /** Redemptions of other customers that wait for a payment. */
  readonly held: number
  /** Whether the customer or the purchase has a discount by the coupon that has not ended. */
  readonly isApplied: boolean
  readonly now: Date
  /** When a payment held the redemption. Neither the end nor the archive of the coupon after it counts. Undefined without a payment. */
  readonly heldSince?: Date | undefined
}

export const redemptionFaults = [
  'archived',
  'expired',
  'used_up',
  'used_by_customer',
  'applied',
] as const
export type RedemptionFault = (typeof redemptionFaults)[number]

/** Returns why the coupon cannot be redeemed now. Undefined if it can. */
export function redemptionFaultOf(facts: RedemptionFacts): RedemptionFault | undefined {
  const { coupon, redeemed, redeemedByCustomer, held, isApplied, now, heldSince } = facts
  const { archivedAt, redeemBy, redemptionsMax, redemptionsPerCustomerMax } = coupon
  if (archivedAt !== null && !(heldSince !== undefined && heldSince < archivedAt)) return 'archived'
  if (redeemBy !== null && redeemBy < (heldSince ?? now)) return 'expired'
  if (isApplied) return 'applied'
  if (redemptionsPerCustomerMax !== null && redeemedByCustomer >= redemptionsPerCustomerMax) {
    return 'used_by_customer'
  }
  if (redemptionsMax !== null && redeemed + held >= redemptionsMax) return 'used_up'
  return undefined
}

/** Why a sale is not discounted by the coupon that the customer entered. */
export type CouponFault =
  | RedemptionFault
  | 'unknown'
  /** The coupon is for other plans or currencies. */
  | 'out_of_scope'
  /** A change of plan keeps the discounts of the purchase, and takes no further coupon, also if it waits for the renewal. */
  | 'within_period'
  /** The plan is sold only for a payment, and the coupon leaves too little to charge. */
  | 'nothing_left'

/** Texts for providers. Pages have their own. */
export const couponFaultReasons: Readonly<Record<CouponFault, string>> = {
  archived: 'it is archived',
  expired: 'the last time to redeem it has passed',
  used_up: 'it was redeemed as often as allowed, or waits for payments of other customers',
  used_by_customer: 'the customer has redeemed it as often as allowed',
  applied: 'the customer has its discount already',
  unknown: 'there is no such coupon',
  out_of_scope: 'it is for other plans or another currency',
  within_period: 'a change of plan within a paid period takes no further coupon',
  nothing_left: 'it leaves less than can be charged',
}
