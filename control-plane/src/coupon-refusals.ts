import { couponFaultReasons, type CouponFault } from '@tollgate/domain/coupons/decide-redemption'
import { refusal } from './refusal.ts'

/** The refusals of requests about coupons and discounts. */
export const couponRefusals = {
  couponNotFound: (reference: string) =>
    refusal('coupon_not_found', `Coupon ${reference} not found`),
  discountNotFound: (reference: string) =>
    refusal(
      'discount_not_found',
      `Discount ${reference} not found among the running discounts of the customer`,
    ),
  couponCodeTaken: (code: string) =>
    refusal('coupon_code_taken', `Another coupon has the code ${code}`),
  couponNotRedeemable: (reference: string, fault: CouponFault) =>
    refusal(
      'coupon_not_redeemable',
      `Coupon ${reference} cannot be redeemed: ${couponFaultReasons[fault]}`,
    ),
}
