import type { Coupon, Discount } from '@tollgate/domain/coupons/coupon'
import type { CouponBody, DiscountBody } from '@tollgate/schemas/http/coupons'
import { definedFields } from '../../domain/defined-fields.ts'

export function couponToHttp(coupon: Coupon): Omit<CouponBody, 'redemptions'> {
  const { reference, name, duration, productRefs, planRefs } = coupon
  return {
    ...{ reference, name, duration },
    ...definedFields({
      code: coupon.code,
      percentOff: coupon.percentOff === null ? null : Number(coupon.percentOff),
      amountOff: coupon.amountOffMinor === null ? null : Number(coupon.amountOffMinor),
      currency: coupon.currency,
      durationInvoices: coupon.durationInvoices,
      productRefs: productRefs.length === 0 ? null : [...productRefs],
      planRefs: planRefs.length === 0 ? null : [...planRefs],
      maxRedemptions: coupon.redemptionsMax,
      maxRedemptionsPerCustomer: coupon.redemptionsPerCustomerMax,
      redeemBy: coupon.redeemBy?.toISOString() ?? null,
      archivedAt: coupon.archivedAt?.toISOString() ?? null,
    }),
    createdAt: coupon.createdAt.toISOString(),
    updatedAt: coupon.updatedAt.toISOString(),
  }
}

export function discountToHttp(discount: Discount): DiscountBody {
  const { reference, coupon, customerRef, invoicesLeft, removedAt, redeemedBy } = discount
  return {
    ...{ reference, customerRef, redeemedBy },
    coupon: couponToHttp(coupon),
    status: removedAt !== null || invoicesLeft === 0 ? 'ended' : 'active',
    ...definedFields({
      purchaseRef: discount.purchaseRef,
      invoicesLeft,
      removedAt: removedAt?.toISOString() ?? null,
    }),
    createdAt: discount.createdAt.toISOString(),
  }
}
