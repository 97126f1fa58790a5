import type { FastifyRequest } from 'fastify'
import type { Coupon } from '@tollgate/domain/coupons/coupon'
import { findCoupon } from '@tollgate/domain/coupons/coupons-repository'
import type { CouponFault } from '@tollgate/domain/coupons/decide-redemption'
import { setCheckoutCoupon } from '@tollgate/domain/sessions/checkout-coupons'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { read, type ReadParts } from '../../access/read.ts'
import type { Reader } from '../reader.ts'
import { checkoutOf, operationOfCheckout, type Checkout } from './checkout.ts'

/** Stores the coupon that the checkout redeems. Null for none. */
export async function storeCoupon(
  pages: ChangeParts,
  request: FastifyRequest,
  couponRef: string | null,
): Promise<void> {
  const { sessionId } = checkoutOf(request).session
  await commit(pages, operationOfCheckout(pages, request), ({ sql, providerId }) =>
    setCheckoutCoupon(sql, providerId, sessionId, couponRef),
  )
}

/** Returns the coupon that the checkout redeems. */
export function readCoupon(
  pages: ReadParts,
  { caller, session: { couponRef } }: Checkout,
): Promise<Coupon | undefined> {
  if (couponRef === null) return Promise.resolve(undefined)
  return read(pages, caller, (sql) => findCoupon(sql, caller.providerId, couponRef))
}

/** Returns what a customer is told about a code that cannot be redeemed. */
export function couponFaultText(fault: CouponFault, { t }: Pick<Reader, 't'>): string {
  switch (fault) {
    case 'unknown':
    case 'archived':
      return t('checkout:codeUnknown')
    case 'expired':
      return t('checkout:codeExpired')
    case 'used_up':
      return t('checkout:codeUsedUp')
    case 'used_by_customer':
    case 'applied':
      return t('checkout:codeUsedBefore')
    case 'out_of_scope':
    case 'nothing_left':
      return t('checkout:codeForOther')
    case 'within_period':
      return t('checkout:codeNotForChange')
  }
}
