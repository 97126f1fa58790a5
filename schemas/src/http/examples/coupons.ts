import {
  addDiscountSchema,
  couponSchema,
  couponsResponseSchema,
  createCouponSchema,
  discountSchema,
  discountsResponseSchema,
  updateCouponSchema,
  type CouponBody,
  type DiscountBody,
} from '../coupons.ts'
import { examplesOf } from './example.ts'
import { instants, refs } from './story.ts'

const { redemptions, ...terms }: CouponBody = {
  reference: refs.coupon,
  code: 'LAUNCH20',
  name: 'Launch',
  percentOff: 20,
  duration: 'repeating',
  durationInvoices: 3,
  planRefs: [refs.proPlan],
  maxRedemptions: 100,
  maxRedemptionsPerCustomer: 1,
  redemptions: 12,
  createdAt: instants.created,
  updatedAt: instants.created,
}

const coupon: CouponBody = { ...terms, redemptions }

const discount: DiscountBody = {
  reference: refs.discount,
  coupon: terms,
  customerRef: refs.customer,
  purchaseRef: refs.purchase,
  status: 'active',
  invoicesLeft: 2,
  redeemedBy: 'Backend',
  createdAt: instants.changed,
}

const answer = examplesOf(couponSchema, { '20% off three invoices': coupon })
const discounts = examplesOf(discountsResponseSchema, { 'One discount': { discounts: [discount] } })

export const couponExamples = {
  listCoupons: {
    answer: examplesOf(couponsResponseSchema, { 'One coupon': { coupons: [coupon], total: 1 } }),
  },
  createCoupon: {
    body: examplesOf(createCouponSchema, {
      '20% off three invoices, with a code': {
        code: 'LAUNCH20',
        name: 'Launch',
        percentOff: 20,
        duration: 'repeating',
        durationInvoices: 3,
        planRefs: [refs.proPlan],
        maxRedemptions: 100,
        maxRedemptionsPerCustomer: 1,
      },
      'An amount off every invoice': {
        name: 'Partner',
        amountOff: 500,
        currency: 'USD',
        duration: 'forever',
      },
    }),
    answer,
  },
  getCoupon: { answer },
  updateCoupon: {
    body: examplesOf(updateCouponSchema, {
      'More redemptions, and an end': { maxRedemptions: 500, redeemBy: instants.periodEnd },
    }),
    answer,
  },
  archiveCoupon: {
    answer: examplesOf(couponSchema, { Archived: { ...coupon, archivedAt: instants.now } }),
  },
  listDiscounts: { answer: discounts },
  addDiscount: {
    body: examplesOf(addDiscountSchema, {
      'A coupon, for one purchase': { couponRef: refs.coupon, purchaseRef: refs.purchase },
      'A code, for all invoices': { code: 'launch20' },
    }),
    answer: examplesOf(discountSchema, { 'For one purchase': discount }),
  },
  removeDiscount: { answer: discounts },
}
